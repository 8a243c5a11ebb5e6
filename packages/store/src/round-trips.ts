import type { Compilable, CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import type { Db, Tx } from "./store.ts";

/** What a statement must find. */
export interface Expectation {
  /** It gives or changes so many. */
  rows: number;
  /** What fails the transaction if it does not. */
  otherwise(): Error;
}

/** A connection on which several statements cost no more than one: SQLite's, which is a message to a thread away. */
export interface TogetherConnection {
  executeTogether(queries: readonly CompiledQuery[]): Promise<QueryResult<unknown>[]>;
  sendWithNext(query: CompiledQuery, expectation?: Expectation): void;
}

type Given<Query> = Query extends Compilable<infer Row> ? Row[] : undefined;

/**
 * The rows that several queries give, which are made in this order: in one round trip where the database can, else in one
 * each. What is not asked is not answered.
 */
export async function together<const Queries extends Record<string, Compilable | undefined>>(
  db: Db,
  queries: Queries,
): Promise<{ -readonly [Name in keyof Queries]: Given<Queries[Name]> }> {
  const asked = Object.entries(queries).flatMap(([name, query]) =>
    query ? [{ name, query: query.compile() }] : [],
  );
  const executor = db.getExecutor();
  const results = await executor.provideConnection(async (connection) => {
    if (isTogether(connection)) return connection.executeTogether(asked.map(({ query }) => query));
    const each: QueryResult<unknown>[] = [];
    for (const { query } of asked) each.push(await connection.executeQuery(query));
    return each;
  });
  const given = asked.map(async ({ name, query: { queryId } }, place) => {
    let result = results[place] as QueryResult<Record<string, unknown>>;
    for (const plugin of executor.plugins) result = await plugin.transformResult({ queryId, result });
    return [name, result.rows];
  });
  return Object.fromEntries(await Promise.all(given)) as never;
}

/**
 * A statement of a transaction whose outcome is known beforehand. It goes to the database with the next one, at the
 * latest with the commit, and if it does not find what it must the transaction fails there. Where that saves nothing it
 * is made at once.
 */
export async function sendWithNext(tx: Tx, query: Compilable, expectation?: Expectation): Promise<void> {
  const compiled = query.compile();
  await tx.getExecutor().provideConnection(async (connection) => {
    if (isTogether(connection)) return connection.sendWithNext(compiled, expectation);
    const { rows, numAffectedRows } = await connection.executeQuery(compiled);
    if (expectation && Number(numAffectedRows ?? rows.length) !== expectation.rows)
      throw expectation.otherwise();
  });
}

function isTogether(
  connection: DatabaseConnection | TogetherConnection,
): connection is DatabaseConnection & TogetherConnection {
  return "executeTogether" in connection;
}
