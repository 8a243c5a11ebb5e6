import { oneOf, type Settings } from "@vocalhost/protocol";
import pino from "pino";
import { styleText } from "node:util";
import type { Log } from "./log.ts";

export const logSettings = {
  logLevel: {
    name: "VOCALHOST_LOG_LEVEL",
    schema: oneOf(["debug", "info", "warn", "error"]).default("info"),
    help: "`debug`, `info`, `warn`, `error`",
  },
} as const satisfies Settings;

const WAITING_MAX_CHARACTERS = 1024 * 1024; // about 5,000 lines
const TRY_AGAIN_MS = 1_000;

/** One JSON line per event for machines; on a terminal a line to read. What cannot be written ends no process. */
export function createServiceLog(options: { level: string; process: string }): Log {
  const settings = { level: options.level, base: { process: options.process } };
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined); // unheard, it would end us
  const destination = pino.destination({
    ...{ fd: process.stdout.fd, sync: true, maxLength: WAITING_MAX_CHARACTERS },
    retryEAGAIN: () => false, // it would hold up everything until somebody reads
  });
  const shown = { write: (line: string) => destination.write(toReadable(line)) };
  const log = pino(settings, process.stdout.isTTY ? shown : destination);
  tellFailures(destination, log);
  return log;
}

/** Lines that cannot be written wait; those that find no place are counted. Both is said when writing works again. */
function tellFailures(destination: ReturnType<typeof pino.destination>, log: Log): void {
  let failed: { code: unknown; lost: number; again: NodeJS.Timeout } | undefined;
  let isWritten = true;
  const tryAgain = (): void => {
    isWritten = true;
    destination.write(""); // `flushSync` would hold up the process until the disk has room
    if (!isWritten) return;
    clearInterval(failed?.again);
    const { code, lost } = failed ?? {};
    failed = undefined;
    log.warn({ code, lost }, "log could not be written for a while");
  };
  destination.on("error", ({ code }: NodeJS.ErrnoException) => {
    isWritten = false;
    failed ??= { code, lost: 0, again: setInterval(tryAgain, TRY_AGAIN_MS).unref() };
  });
  destination.on("drop", () => {
    if (failed) failed.lost += 1;
  });
}

interface LogLine {
  level: number;
  time: number;
  process: string;
  msg: string;
  err?: { message?: string; stack?: string };
  [field: string]: unknown;
}

function toReadable(line: string): string {
  const { level, time, process: _process, msg, err, ...fields } = JSON.parse(line) as LogLine;
  const clock = styleText("gray", new Date(time).toTimeString().slice(0, 8));
  const sentence = level >= 50 ? styleText("red", msg) : level >= 40 ? styleText("yellow", msg) : msg;
  const details = Object.entries(fields).map(([name, value]) => `${name}=${fieldText(value)}`);
  const tail = details.length > 0 ? ` ${styleText("gray", details.join(" "))}` : "";
  const problem = err ? `\n${err.stack ?? err.message ?? ""}` : "";
  return `${clock} ${sentence}${tail}${problem}\n`;
}

// What callers sent may be in a field; it must not be able to move the cursor or fake a line.
function fieldText(value: unknown): string {
  return typeof value === "string" && !/[\p{Cc}\p{Cf}]/u.test(value) ? value : JSON.stringify(value);
}
