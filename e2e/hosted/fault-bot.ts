import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** One line of the file in which bots write down what really happened. */
export type Truth =
  | { event: "started"; sessionId: string; version: string; pid: number }
  | { event: "frozen"; sessionId: string }
  | { event: "ended"; sessionId: string; endedAtMs: number };

/**
 * Files of a bot that says back what it hears and keeps a truth file. A client can tell it `hang up`, or `freeze`: to
 * block its thread for ever. The start body `{ "stubborn": true }` makes it deaf to every request to stop.
 */
export function faultBot({ truthFile, version = "1" }: { truthFile: string; version?: string }): Files {
  return { "bot.ts": bot(truthFile, version) };
}

/** Makes the file, for bots that run as users of their own when the service is root. */
export function openTruthFile(folder: string): string {
  const truthFile = join(folder, "truth.jsonl");
  writeFileSync(truthFile, "", { flag: "a" });
  chmodSync(truthFile, 0o666);
  chmodSync(folder, 0o711);
  return truthFile;
}

export function readTruth(truthFile: string): Truth[] {
  if (!existsSync(truthFile)) return [];
  const lines = readFileSync(truthFile, "utf8").split("\n").slice(0, -1); // the last one may be half written
  return lines.map((line) => JSON.parse(line) as Truth);
}

type Files = Record<string, string>;

function bot(truthFile: string, version: string): string {
  return `
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";

function tell(truth) {
  const file = openSync(${JSON.stringify(truthFile)}, "a");
  writeSync(file, JSON.stringify(truth) + "\\n");
  fsyncSync(file);
  closeSync(file);
}

export async function bot({ sessionId, body, kind, websocket, signal }) {
  const over = Promise.withResolvers();
  tell({ event: "started", sessionId, version: ${JSON.stringify(version)}, pid: process.pid });
  if (kind === "websocket") {
    websocket.send(JSON.stringify({ sessionId, version: ${JSON.stringify(version)}, pid: process.pid }));
    websocket.on("message", (data) => {
      const text = data.toString();
      if (text === "freeze") {
        tell({ event: "frozen", sessionId });
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      }
      if (text === "hang up") over.resolve();
      else websocket.send(text);
    });
  }
  if (body?.stubborn) await new Promise(() => undefined);
  signal.addEventListener("abort", () => over.resolve(), { once: true });
  if (signal.aborted) over.resolve();
  await over.promise;
  tell({ event: "ended", sessionId, endedAtMs: Date.now() });
}
`;
}
