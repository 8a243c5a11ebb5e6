import { Worker } from "node:worker_threads";
import type { Log } from "@vocalhost/base/log";
import {
  openSqliteEngine,
  UnmetError,
  type Outcome,
  type SqliteEngine,
  type Statement,
} from "./sqlite-engine.ts";
import { toSqliteError, unavailable } from "./store-errors.ts";
import { ownProgram } from "@vocalhost/base/own-files";

/** The way to SQLite, wherever it runs. */
export interface SqliteLink {
  readonly hasReader: boolean;
  readonly isDiskFull: boolean;
  /** In their order, until one fails; one message there and one back, however many they are. */
  execute(statements: readonly Statement[]): Outcome[] | Promise<Outcome[]>;
  close(): Promise<void>;
}

export interface SqliteFile {
  file: string;
  ballastBytes: number;
  /** How often a released ballast is tried again. */
  diskCheckMs: number;
  /** Another thread writes. */
  readOnly?: boolean;
}

export type SqliteRequest =
  | { type: "close" }
  | { type: "execute"; id: number; statements: readonly Statement[] };
export type SqliteReply =
  | { type: "opened" }
  | { type: "failed"; message: string; errcode: number | undefined }
  | { type: "disk"; isFull: boolean }
  | { type: "outcomes"; id: number; outcomes: Outcome[] }
  | { type: "unmet"; id: number; at: number }
  | { type: "refused"; id: number; message: string; errcode: number | undefined };

export function linkInPlace(engine: SqliteEngine, diskCheckMs?: number): SqliteLink {
  const timer = diskCheckMs === undefined ? undefined : setInterval(() => engine.checkDisk(), diskCheckMs);
  timer?.unref();
  return {
    hasReader: engine.hasReader,
    get isDiskFull() {
      return engine.isDiskFull;
    },
    execute: (statements) => engine.execute(statements),
    async close() {
      clearInterval(timer);
      engine.close();
    },
  };
}

export function linkToFile(options: SqliteFile): SqliteLink {
  const engine = openSqliteEngine({ memory: false, file: options.file, ballastBytes: options.ballastBytes });
  return linkInPlace(engine, options.diskCheckMs);
}

/** Opens the file in a thread of its own, so that a slow disk blocks nothing else. */
export async function linkToThread(options: SqliteFile, log: Log): Promise<SqliteLink> {
  const waiting = new Map<number, { resolve(outcomes: Outcome[]): void; reject(error: Error): void }>();
  let worker: Worker | undefined;
  let starting: Promise<void> | undefined;
  let isDiskFull = false;
  let isClosed = false;
  let lastId = 0;

  async function start(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const started = new Worker(ownProgram(import.meta, "sqlite-worker"), {
      workerData: options,
    });
    started.on("message", (reply: SqliteReply) => {
      switch (reply.type) {
        case "opened":
          worker = started;
          return resolve();
        case "failed":
          return reject(toSqliteError(reply.message, reply.errcode));
        case "disk":
          isDiskFull = reply.isFull;
          return log.warn({ isFull: reply.isFull }, "disk of the store changed");
        case "outcomes":
          return settle(reply.id)?.resolve(reply.outcomes);
        case "unmet":
          return settle(reply.id)?.reject(new UnmetError(reply.at));
        case "refused":
          return settle(reply.id)?.reject(toSqliteError(reply.message, reply.errcode));
        default:
          return reply satisfies never;
      }
    });
    started.on("error", (error) => log.error({ err: error }, "store thread failed"));
    started.on("exit", (code) => {
      reject(unavailable("The database's thread did not start"));
      if (worker !== started) return;
      worker = undefined; // the next statement starts another
      if (!isClosed) log.error({ code, messages: waiting.size }, "store thread ended");
      for (const id of waiting.keys()) settle(id)?.reject(unavailable("The database's thread ended"));
    });
    return promise;
  }

  function settle(id: number) {
    const caller = waiting.get(id);
    waiting.delete(id);
    return caller;
  }

  if (!options.readOnly) await start(); // whoever only reads may never be asked
  return {
    hasReader: true,
    get isDiskFull() {
      return isDiskFull;
    },
    async execute(statements) {
      if (isClosed) throw unavailable("The store is closed");
      if (!worker) {
        starting ??= start().finally(() => (starting = undefined));
        await starting;
      }
      const { promise, resolve, reject } = Promise.withResolvers<Outcome[]>();
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      worker!.postMessage({ type: "execute", id: lastId, statements } satisfies SqliteRequest);
      return promise;
    },
    async close() {
      isClosed = true;
      await starting?.catch(() => undefined);
      const ending = worker;
      if (!ending) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      ending.once("exit", () => resolve());
      ending.postMessage({ type: "close" } satisfies SqliteRequest);
      await promise;
    },
  };
}
