import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import type { Lock } from "./lock.ts";
import type { Expectation, TogetherConnection } from "./round-trips.ts";
import { UnmetError, type Outcome, type Statement } from "./sqlite-engine.ts";
import type { SqliteLink } from "./sqlite-link.ts";
import { fromSqliteError, isDiskFullError, unavailable } from "./store-errors.ts";
import { sharesCommit } from "./transaction-scope.ts";

/** What all connections to one writer have in common. */
export interface SqliteTurns {
  lock: Lock;
  /** Transactions that are over and wait for the commit of one behind them. Only who has the lock may look. */
  shared: SharedCommit | undefined;
}

interface SharedCommit {
  members: number;
  written: PromiseWithResolvers<void>;
}

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
  /** What ended the transaction; SQLite may have undone everybody's by itself then. */
  #failure: unknown;

  constructor(link: SqliteLink, turns: SqliteTurns) {
    this.#link = link;
    this.#turns = turns;
  }

  async begin(): Promise<void> {
    this.#isSharing = sharesCommit();
    await this.#turns.lock.take({ sharesCommit: this.#isSharing });
    this.#hasTurn = true;
    this.#isBegun = false;
    this.#failure = undefined;
    const statement = this.#turns.shared ? inTransaction("savepoint latest") : BEGIN;
    this.#unsent = [{ statement }];
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
      this.#settleShared(isDiskFullError(this.#failure) ? this.#failure : error);
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
    if (this.#link.hasReader && queries.every(({ query }) => query.kind === "SelectQueryNode"))
      return this.#send(queries.map((query) => toStatement(query, "reader")));
    const { lock } = this.#turns;
    if (!lock.tryTake()) await lock.take();
    try {
      return await this.#send(queries.map((query) => toStatement(query, "writer")));
    } finally {
      lock.release();
    }
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
    const { lock, shared } = this.#turns;
    return this.#isSharing && lock.next?.sharesCommit === true && (shared?.members ?? 0) < MEMBERS_MAX;
  }

  #settleShared(error?: unknown): void {
    const { shared } = this.#turns;
    this.#turns.shared = undefined;
    if (error === undefined) shared?.written.resolve();
    // Whoever hears that the disk is full can make room and try again.
    else
      shared?.written.reject(
        isDiskFullError(error) ? error : unavailable("The transaction was not written", error),
      );
  }

  async #inside(next: readonly Unsent[]): Promise<QueryResult<unknown>[]> {
    const sent = [...this.#unsent, ...next];
    this.#unsent = [];
    this.#isBegun = true;
    try {
      const results = await this.#send(sent.map(({ statement }) => statement));
      return results.slice(sent.length - next.length);
    } catch (error) {
      this.#failure = error;
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
