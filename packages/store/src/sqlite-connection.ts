import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import type { Statement } from "./sqlite-engine.ts";
import type { SqliteLink } from "./sqlite-link.ts";
import { fromSqliteError, unavailable } from "./store-errors.ts";

/**
 * SQLite has one writer: a transaction holds its lock from `begin` to its end, a single write while it runs. A transaction
 * begins with its first statement, which spares a message to the thread.
 */
export class SqliteConnection implements DatabaseConnection {
  readonly #link: SqliteLink;
  readonly #writer: Lock;
  #isInTransaction = false;
  #isBegun = false;

  constructor(link: SqliteLink, writer: Lock) {
    this.#link = link;
    this.#writer = writer;
  }

  async begin(): Promise<void> {
    await this.#writer.take();
    this.#isInTransaction = true;
    this.#isBegun = false;
  }

  async commit(): Promise<void> {
    if (this.#isBegun) await this.#send({ sql: "commit", parameters: [], where: "transaction" });
  }

  /** Never rejects, since the caller is told the error that led here. The next statement fails if the database does. */
  async rollback(): Promise<void> {
    await this.#send({ sql: "rollback", parameters: [], where: "rollback" }).catch(() => undefined);
  }

  release(): void {
    if (!this.#isInTransaction) return;
    this.#isInTransaction = false;
    this.#writer.release();
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    const outcome = await this.#execute({ sql, parameters }, query.kind === "SelectQueryNode");
    return outcome as QueryResult<R>;
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("Streams are not supported; page by key");
  }

  async #execute(asked: Omit<Statement, "where">, isRead: boolean): Promise<QueryResult<unknown>> {
    if (this.#isInTransaction) {
      const where = this.#isBegun ? "transaction" : "first";
      this.#isBegun = true;
      return this.#send({ ...asked, where });
    }
    if (isRead && this.#link.hasReader) return this.#send({ ...asked, where: "reader" });
    await this.#writer.take();
    try {
      return await this.#send({ ...asked, where: "writer" });
    } finally {
      this.#writer.release();
    }
  }

  async #send(statement: Statement): Promise<QueryResult<unknown>> {
    try {
      return await this.#link.execute(statement);
    } catch (error) {
      throw fromSqliteError(error);
    }
  }
}

/** Gives a resource to one holder at a time, first come, first served. */
export class Lock {
  readonly #waitLimitMs: number | undefined;
  readonly #queue = new Set<() => void>();
  #isTaken = false;

  constructor({ waitLimitMs }: { waitLimitMs?: number } = {}) {
    this.#waitLimitMs = waitLimitMs;
  }

  async take(): Promise<void> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.add(resolve);
    if (this.#waitLimitMs === undefined) return promise;
    const timer = setTimeout(() => {
      if (this.#queue.delete(resolve)) reject(unavailable("The database is busy"));
    }, this.#waitLimitMs);
    await promise.finally(() => clearTimeout(timer));
  }

  release(): void {
    const [next] = this.#queue;
    if (!next) this.#isTaken = false;
    else {
      this.#queue.delete(next);
      next();
    }
  }
}
