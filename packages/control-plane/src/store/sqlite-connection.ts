import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import type { Expectation, TogetherConnection } from "./round-trips.ts";
import { UnmetError, type Outcome, type Statement } from "./sqlite-engine.ts";
import type { SqliteLink } from "./sqlite-link.ts";
import type { TransactionOptions } from "./store.ts";
import type { SqliteTurns } from "./sqlite-turns.ts";
import { fromSqliteError, unavailable } from "./store-errors.ts";
import { optionsOfNext } from "./transaction-scope.ts";

interface Unsent {
  statement: Statement;
  otherwise?: (() => Error) | undefined;
}

const MEMBERS_MAX = 32; // whoever came first must not wait for ever

/**
 * One at a time has the writer. A transaction's begin goes to the database with its first statements. A transaction that
 * may share its commit, and has one behind it that may too, leaves the commit to that one, which works behind a savepoint:
 * everybody's changes reach the disk at once, and nobody hears that they were written before.
 */
export class SqliteConnection implements DatabaseConnection, TogetherConnection {
  readonly #link: SqliteLink;
  readonly #turns: SqliteTurns;
  #hasTurn = false;
  #isSharing = false;
  #isBegun = false;
  #unsent: Unsent[] = [];

  constructor(link: SqliteLink, turns: SqliteTurns) {
    this.#link = link;
    this.#turns = turns;
  }

  async begin(): Promise<void> {
    const options = optionsOfNext();
    this.#isSharing = options.sharesCommit;
    await this.#turns.lock.take(options);
    this.#hasTurn = true;
    this.#isBegun = false;
    const statements = this.#turns.shared
      ? [inTransaction("savepoint latest")]
      : [...this.#turns.set(this.#waitsForDisk(options)), BEGIN];
    this.#unsent = statements.map((statement) => ({ statement }));
  }

  /** One that need not wait for the disk does so all the same if one behind it can then share its commit. */
  #waitsForDisk({ sharesCommit, survivesPowerLoss }: Required<TransactionOptions>): boolean {
    const { next } = this.#turns.lock;
    return survivesPowerLoss || (sharesCommit && next?.sharesCommit === true && next.survivesPowerLoss);
  }

  async commit(): Promise<void> {
    if (this.#mayLeaveCommit()) await this.#inside([]);
    if (this.#mayLeaveCommit()) {
      const shared = (this.#turns.shared ??= { members: 0, written: Promise.withResolvers() });
      shared.members += 1;
      this.release();
      return shared.written.promise;
    }
    await this.#inside([{ statement: COMMIT }]);
    this.#settleShared();
  }

  /** Never rejects: the error that led here is the one to tell. */
  async rollback(): Promise<void> {
    if (!this.#hasTurn) return; // it was over, and the commit it left to another one failed
    this.#unsent = [];
    try {
      if (this.#turns.shared) await this.#rollbackAlone();
      else if (this.#isBegun) await this.#send([ROLLBACK]);
    } catch (error) {
      this.#settleShared(error);
      await this.#send([ROLLBACK]).catch(() => undefined); // the next statement says so if the database is in trouble
    }
  }

  /** What others have left to us is still to be written. */
  async #rollbackAlone(): Promise<void> {
    if (this.#isBegun) await this.#send([inTransaction("rollback to latest")]);
    if (this.#mayLeaveCommit()) return;
    await this.#send([COMMIT]);
    this.#settleShared();
  }

  release(): void {
    if (!this.#hasTurn) return;
    this.#hasTurn = false;
    this.#turns.lock.release();
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const [result] = await this.executeTogether([query]);
    return result as QueryResult<R>;
  }

  async executeTogether(queries: readonly CompiledQuery[]): Promise<QueryResult<unknown>[]> {
    if (this.#hasTurn)
      return this.#inside(queries.map((query) => ({ statement: toStatement(query, "transaction") })));
    const areReads = queries.every(({ query }) => query.kind === "SelectQueryNode");
    if (areReads && this.#link.hasReader)
      return this.#send(queries.map((query) => toStatement(query, "reader")));
    const { lock } = this.#turns;
    if (!lock.tryTake()) await lock.take();
    try {
      const statements = queries.map((query) => toStatement(query, "writer"));
      return areReads ? await this.#send(statements) : await this.#write(statements);
    } finally {
      lock.release();
    }
  }

  async #write(statements: readonly Statement[]): Promise<QueryResult<unknown>[]> {
    const before = this.#turns.set(true);
    const results = await this.#send([...before, ...statements]);
    this.#turns.isSet();
    return results.slice(before.length);
  }

  sendWithNext(query: CompiledQuery, expectation?: Expectation): void {
    if (!this.#hasTurn) throw new Error("Only a transaction has a next statement");
    const statement = toStatement(query, "transaction");
    if (!expectation) this.#unsent.push({ statement });
    else {
      const { rows: expects, otherwise } = expectation;
      this.#unsent.push({ statement: { ...statement, expects }, otherwise });
    }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("Streams are not supported; page by key");
  }

  #mayLeaveCommit(): boolean {
    const { lock, shared, isDurable } = this.#turns;
    if (!this.#isSharing || (shared?.members ?? 0) >= MEMBERS_MAX) return false;
    return lock.next?.sharesCommit === true && (isDurable || !lock.next.survivesPowerLoss);
  }

  #settleShared(error?: unknown): void {
    const { shared } = this.#turns;
    this.#turns.shared = undefined;
    if (error === undefined) shared?.written.resolve();
    else shared?.written.reject(unavailable("The transaction was not written", error));
  }

  async #inside(next: readonly Unsent[]): Promise<QueryResult<unknown>[]> {
    const sent = [...this.#unsent, ...next];
    this.#unsent = [];
    this.#isBegun = true;
    try {
      const results = await this.#send(sent.map(({ statement }) => statement));
      this.#turns.isSet();
      return results.slice(sent.length - next.length);
    } catch (error) {
      throw (error instanceof UnmetError && sent[error.at]?.otherwise?.()) || error;
    }
  }

  async #send(statements: readonly Statement[]): Promise<QueryResult<unknown>[]> {
    if (statements.length === 0) return [];
    try {
      return (await this.#link.execute(statements)).map(toResult);
    } catch (error) {
      throw fromSqliteError(error);
    }
  }
}

const BEGIN: Statement = { sql: "begin immediate", parameters: [], where: "writer" };
const COMMIT = inTransaction("commit");
const ROLLBACK: Statement = { sql: "rollback", parameters: [], where: "rollback" };

function inTransaction(sql: string): Statement {
  return { sql, parameters: [], where: "transaction" };
}

function toStatement({ sql, parameters }: CompiledQuery, where: Statement["where"]): Statement {
  return { sql, parameters, where };
}

function toResult({ rows, changes }: Outcome): QueryResult<unknown> {
  return changes === undefined ? { rows } : { rows, numAffectedRows: BigInt(changes) };
}
