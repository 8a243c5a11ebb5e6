// Says back what it hears and does what its start body asks. Its own routes let tests look inside.
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createTransport, type RunnerArguments } from "vocalhost";
import { vivaFilter } from "vocalhost/filters";
import { app } from "vocalhost/runner";

interface Options {
  /** Printed when the bot begins; `{NAME}` stands for a variable of its environment, `{NAME.json}` for it as JSON. */
  say?: string[];
  /** Lines a second until the session ends. */
  flood?: number;
  /** Hear through the voice filter. */
  isFiltered?: boolean;
  /** Where to write down when the bot ran. */
  truthFolder?: string;
}

/** One line of a truth file. */
export interface Moment {
  /** Monotonic. */
  ms: number;
  atMs: number;
}

const TRUTH_EVERY_MS = 200;
const FLOOD_EVERY_MS = 50;
let body: unknown;
let callData: unknown;

app.get("/hello", async (request) => ({ sessionId: request.sessionId, pid: process.pid }));
app.get("/hello-socket", { websocket: true }, (socket, request) => {
  socket.on("message", (data: Buffer) => socket.send(`${request.sessionId}: ${data.toString()}`));
});
app.get("/environment", async () => process.env);
app.get("/body", async () => body ?? null);
app.get("/call-data", async () => callData ?? null);

export async function bot(args: RunnerArguments): Promise<void> {
  body = args.body;
  callData = args.callData;
  const { say = [], flood, isFiltered, truthFolder } = (args.body ?? {}) as Options;
  using _truth = truthFolder === undefined ? undefined : keepTruth(join(truthFolder, args.sessionId));
  using _flood = flood === undefined ? undefined : keepPrinting(flood);
  for (const line of say) process.stdout.write(`${filledIn(line)}\n`);
  if (args.callData?.body["X-Client"] === "own") return aborted(args.signal); // joins with a client of its own
  const transport = await createTransport(args, isFiltered ? { audioIn: { filter: vivaFilter() } } : {});
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function filledIn(line: string): string {
  return line.replaceAll(/\{(\w+)(\.json)?\}/g, (_, name: string, asJson?: string) => {
    const value = process.env[name] ?? "";
    return asJson ? JSON.stringify(value) : value;
  });
}

function keepTruth(path: string): Disposable {
  const file = openSync(path, "a");
  const write = (): void => {
    writeSync(file, `${JSON.stringify({ ms: performance.now(), atMs: Date.now() } satisfies Moment)}\n`);
    fsyncSync(file);
  };
  write();
  const timer = setInterval(write, TRUTH_EVERY_MS);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      write();
      closeSync(file);
    },
  };
}

function keepPrinting(linesPerSecond: number): Disposable {
  const count = Math.round((linesPerSecond * FLOOD_EVERY_MS) / 1000);
  const timer = setInterval(
    () => process.stdout.write("much ado about nothing\n".repeat(count)),
    FLOOD_EVERY_MS,
  );
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
