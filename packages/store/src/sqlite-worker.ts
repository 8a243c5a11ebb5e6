// SQLite in a thread of its own: a statement in, its outcome out, in order.
import { parentPort, workerData } from "node:worker_threads";
import { openSqliteEngine, type SqliteEngine } from "./sqlite-engine.ts";
import type { SqliteFile, SqliteReply, SqliteRequest } from "./sqlite-link.ts";
import { sqliteCode } from "./store-errors.ts";

const port = parentPort!;
const options = workerData as SqliteFile;

try {
  const { file, reserveBytes } = options;
  serve(
    openSqliteEngine({ memory: false, file, ...(options.readOnly ? { readOnly: true } : { reserveBytes }) }),
  );
  post({ type: "opened" });
} catch (error) {
  post({ type: "failed", ...toFields(error) });
}

function serve(engine: SqliteEngine): void {
  let wasFull = false;
  tellDisk();
  const timer = setInterval(() => {
    engine.checkDisk();
    tellDisk();
  }, options.diskCheckMs);

  function tellDisk(): void {
    if (engine.isDiskFull === wasFull) return;
    wasFull = engine.isDiskFull;
    post({ type: "disk", isFull: wasFull });
  }

  port.on("message", (request: SqliteRequest) => {
    if (request.type === "close") {
      clearInterval(timer);
      port.close();
      engine.close();
      return;
    }
    const reply = answer(engine, request);
    tellDisk(); // before the reply, so that its receiver knows
    post(reply);
  });
}

function answer(
  engine: SqliteEngine,
  { id, statement }: Extract<SqliteRequest, { type: "execute" }>,
): SqliteReply {
  try {
    return { type: "done", id, outcome: engine.execute(statement) };
  } catch (error) {
    return { type: "refused", id, ...toFields(error) };
  }
}

function toFields(error: unknown): { message: string; errcode: number | undefined } {
  return {
    message: error instanceof Error ? error.message : String(error),
    errcode: sqliteCode(error) || undefined,
  };
}

function post(reply: SqliteReply): void {
  port.postMessage(reply);
}
