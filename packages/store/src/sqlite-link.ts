import { Worker } from "node:worker_threads";
import type { Log } from "@vocalhost/base/log";
import { ownProgram } from "@vocalhost/base/own-files";
import { openSqliteEngine, type Outcome, type SqliteEngine, type Statement } from "./sqlite-engine.ts";
import { toSqliteError, unavailable } from "./store-errors.ts";

/** The way to SQLite, wherever it runs. */
export interface SqliteLink {
  readonly hasReader: boolean;
  readonly isDiskFull: boolean;
  execute(statement: Statement): Outcome | Promise<Outcome>;
  close(): Promise<void>;
}

export interface SqliteFile {
  file: string;
  reserveBytes: number;
  /** How often a released disk reserve is tried again. */
  diskCheckMs: number;
  /** Another thread writes. */
  readOnly?: boolean;
}

export type SqliteRequest = { type: "close" } | { type: "execute"; id: number; statement: Statement };
export type SqliteReply =
  | { type: "opened" }
  | { type: "failed"; message: string; errcode: number | undefined }
  | { type: "disk"; isFull: boolean }
  | { type: "done"; id: number; outcome: Outcome }
  | { type: "refused"; id: number; message: string; errcode: number | undefined };

export function linkInPlace(engine: SqliteEngine, diskCheckMs?: number): SqliteLink {
  const timer = diskCheckMs === undefined ? undefined : setInterval(() => engine.checkDisk(), diskCheckMs);
  timer?.unref();
  return {
    hasReader: engine.hasReader,
    get isDiskFull() {
      return engine.isDiskFull;
    },
    execute: (statement) => engine.execute(statement),
    async close() {
      clearInterval(timer);
      engine.close();
    },
  };
}

export function linkToFile({ file, reserveBytes, diskCheckMs }: SqliteFile): SqliteLink {
  return linkInPlace(openSqliteEngine({ memory: false, file, reserveBytes }), diskCheckMs);
}

/** Opens the file in a thread of its own, so that a slow disk blocks nothing else. */
export async function linkToThread(options: SqliteFile, log: Log): Promise<SqliteLink> {
  const link = new ThreadLink(options, log);
  if (!options.readOnly) await link.start(); // a search may never be asked for
  return link;
}

class ThreadLink implements SqliteLink {
  readonly hasReader = true;
  readonly #options: SqliteFile;
  readonly #log: Log;
  readonly #waiting = new Map<number, PromiseWithResolvers<Outcome>>();
  #worker: Worker | undefined;
  #starting: Promise<void> | undefined;
  #isDiskFull = false;
  #isClosed = false;
  #lastId = 0;

  constructor(options: SqliteFile, log: Log) {
    this.#options = options;
    this.#log = log;
  }

  get isDiskFull(): boolean {
    return this.#isDiskFull;
  }

  async start(): Promise<void> {
    const opened = Promise.withResolvers<void>();
    const worker = new Worker(ownProgram(import.meta, "sqlite-worker"), { workerData: this.#options });
    worker.on("message", (reply: SqliteReply) => {
      if (reply.type === "opened") {
        this.#worker = worker;
        opened.resolve();
      } else if (reply.type === "failed") opened.reject(toSqliteError(reply.message, reply.errcode));
      else this.#take(reply);
    });
    worker.on("error", (error) => this.#log.error({ err: error }, "store thread failed"));
    worker.on("exit", (code) => {
      opened.reject(unavailable("The database's thread did not start"));
      if (this.#worker === worker) this.#loseWorker(code);
    });
    return opened.promise;
  }

  async execute(statement: Statement): Promise<Outcome> {
    if (this.#isClosed) throw unavailable("The store is closed");
    if (!this.#worker) {
      this.#starting ??= this.start().finally(() => (this.#starting = undefined));
      await this.#starting;
    }
    const answered = Promise.withResolvers<Outcome>();
    const id = ++this.#lastId;
    this.#waiting.set(id, answered);
    this.#worker!.postMessage({ type: "execute", id, statement } satisfies SqliteRequest);
    return answered.promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#starting?.catch(() => undefined);
    const worker = this.#worker;
    if (!worker) return;
    const exited = Promise.withResolvers<void>();
    worker.once("exit", () => exited.resolve());
    worker.postMessage({ type: "close" } satisfies SqliteRequest);
    await exited.promise;
  }

  #take(reply: Exclude<SqliteReply, { type: "opened" | "failed" }>): void {
    switch (reply.type) {
      case "disk":
        this.#isDiskFull = reply.isFull;
        return this.#log.warn({ isFull: reply.isFull }, "disk of the store changed");
      case "done":
        return this.#settle(reply.id)?.resolve(reply.outcome);
      case "refused":
        return this.#settle(reply.id)?.reject(toSqliteError(reply.message, reply.errcode));
      default:
        return reply satisfies never;
    }
  }

  /** The next statement starts another thread. */
  #loseWorker(code: number): void {
    this.#worker = undefined;
    if (!this.#isClosed) this.#log.error({ code, messages: this.#waiting.size }, "store thread ended");
    for (const id of this.#waiting.keys())
      this.#settle(id)?.reject(unavailable("The database's thread ended"));
  }

  #settle(id: number): PromiseWithResolvers<Outcome> | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }
}
