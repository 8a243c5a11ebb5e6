import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { createLock, type Lock } from "./lock.ts";
import type { Statement } from "./sqlite-engine.ts";
import type { SqliteLink } from "./sqlite-link.ts";
import { fromSqliteError } from "./store-errors.ts";
import { refuseInsideTransaction } from "./transaction-scope.ts";

/** One writer: transactions and single writes take turns; reads pass by where SQLite has a second connection. */
export function createSqliteDialect(link: SqliteLink, options: { waitLimitMs?: number } = {}): Dialect {
  return {
    createAdapter: () => new TurnTakingAdapter(),
    createDriver: () => createDriver(link, createLock(options)),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class TurnTakingAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true; // the lock decides who waits, not Kysely
  }
}

function createDriver(link: SqliteLink, lock: Lock): Driver {
  return {
    init: async () => undefined,
    async acquireConnection() {
      refuseInsideTransaction();
      return new SqliteConnection(link, lock);
    },
    beginTransaction: async (connection) => (connection as SqliteConnection).begin(),
    commitTransaction: async (connection) => (connection as SqliteConnection).commit(),
    rollbackTransaction: async (connection) => (connection as SqliteConnection).rollback(),
    releaseConnection: async (connection) => (connection as SqliteConnection).release(),
    destroy: () => link.close(),
  };
}

class SqliteConnection implements DatabaseConnection {
  readonly #link: SqliteLink;
  readonly #lock: Lock;
  #isInTransaction = false;
  #beginning: Promise<unknown> | undefined;

  constructor(link: SqliteLink, lock: Lock) {
    this.#link = link;
    this.#lock = lock;
  }

  async begin(): Promise<void> {
    await this.#lock.take();
    this.#isInTransaction = true;
    // Goes to the thread together with the first statement; if it fails, that one does too.
    this.#beginning = this.#send({ sql: "begin immediate", parameters: [], where: "writer" });
    this.#beginning.catch(() => undefined);
  }

  async commit(): Promise<void> {
    await this.#inside({ sql: "commit", parameters: [], where: "transaction" });
  }

  /** Never rejects: the error that led here is the one to tell. */
  async rollback(): Promise<void> {
    try {
      await this.#send({ sql: "rollback", parameters: [], where: "rollback" });
    } catch {
      // the next statement says so if the database is in trouble
    }
  }

  release(): void {
    if (!this.#isInTransaction) return;
    this.#isInTransaction = false;
    this.#lock.release();
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#isInTransaction) return this.#inside({ sql, parameters, where: "transaction" });
    if (this.#link.hasReader && query.kind === "SelectQueryNode")
      return this.#send({ sql, parameters, where: "reader" });
    if (!this.#lock.tryTake()) await this.#lock.take();
    try {
      return await this.#send({ sql, parameters, where: "writer" });
    } finally {
      this.#lock.release();
    }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("Streams are not supported; page by key");
  }

  async #inside<R>(statement: Statement): Promise<QueryResult<R>> {
    const sent = this.#send<R>(statement);
    if (this.#beginning) {
      sent.catch(() => undefined);
      await this.#beginning; // its own reason is the one to tell
      this.#beginning = undefined;
    }
    return sent;
  }

  async #send<R>(statement: Statement): Promise<QueryResult<R>> {
    try {
      const { rows, changes } = await this.#link.execute(statement);
      return changes === undefined
        ? { rows: rows as R[] }
        : { rows: rows as R[], numAffectedRows: BigInt(changes) };
    } catch (error) {
      throw fromSqliteError(error);
    }
  }
}
