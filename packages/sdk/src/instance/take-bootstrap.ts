// Must be the first import: it sets the environment and the output before other modules read or use them.
import { BootstrapPayload, sharedFileNames } from "@vocalhost/protocol";
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { awaitedBootstrap } from "./config.ts";

const BOOTSTRAP_MAX_BYTES = 4 * 1024 * 1024;
const [STDIN, STDOUT, STDERR] = [0, 1, 2];
const NEWLINE = 0x0a;
const LOOK_AGAIN_MS = 5;

const awaited = awaitedBootstrap();
if (awaited) {
  printInto(join(awaited.folder, sharedFileNames.output));
  Object.assign(awaited.environment, parseBootstrap(readLine()).environment);
}

// Opening takes the lowest free descriptor. All output, including that of native code and child processes, then
// goes to the file, where readers need neither the container engine nor this process.
function printInto(path: string): void {
  for (const output of [STDOUT, STDERR]) {
    closeSync(output);
    const opened = openSync(path, "a");
    if (opened !== output) throw new Error(`Output went to descriptor ${opened} instead of ${output}`);
  }
  process.on("SIGXFSZ", () => undefined); // a full file must not end a call
}

function parseBootstrap(line: string): BootstrapPayload {
  try {
    return BootstrapPayload.parse(JSON.parse(line));
  } catch {
    throw new Error("Standard input holds no valid bootstrap payload"); // the parser's own message would quote secrets
  }
}

function readLine(): string {
  const chunks: Buffer[] = [];
  for (let length = 0; length < BOOTSTRAP_MAX_BYTES;) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const bytesRead = readSome(chunk);
    if (bytesRead === 0) throw new Error("Standard input ended before the bootstrap payload");
    const read = chunk.subarray(0, bytesRead);
    chunks.push(read);
    if (read.includes(NEWLINE)) return Buffer.concat(chunks).toString("utf8");
    length += bytesRead;
  }
  throw new Error(`A bootstrap payload has at most ${BOOTSTRAP_MAX_BYTES} bytes`);
}

function readSome(chunk: Buffer): number {
  for (;;)
    try {
      return readSync(STDIN, chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_AGAIN_MS);
    }
}
