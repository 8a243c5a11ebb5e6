import { logFormatSetting, oneOf, readableLog, type Settings, type ValuesOf } from "@vocalhost/protocol";
import pino from "pino";
import { styleText } from "node:util";
import type { Log } from "./log.ts";

export const logSettings = {
  logLevel: {
    name: "VOCALHOST_LOG_LEVEL",
    schema: oneOf(["debug", "info", "warn", "error"]).default("info"),
    help: "`debug`, `info`, `warn`, `error`",
  },
  logFormat: logFormatSetting,
} as const satisfies Settings;

type LogConfig = ValuesOf<typeof logSettings>;

const WAITING_MAX_CHARACTERS = 1024 * 1024; // about 5,000 lines
const TRY_AGAIN_MS = 1_000;

/** Writes one JSON line per event, or readable lines. A failing write never ends the process. */
export function createServiceLog({ config, process: part }: { config: LogConfig; process: string }): Log {
  const { logLevel: level, logFormat = process.stdout.isTTY ? "text" : "json" } = config;
  const settings = { level, base: { process: part } };
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined); // unhandled, it would end us
  const destination = pino.destination({
    ...{ fd: process.stdout.fd, sync: true, maxLength: WAITING_MAX_CHARACTERS },
    retryEAGAIN: () => false, // retrying would block the process until the reader continues
  });
  const log = pino(settings, logFormat === "text" ? readableTo(destination, level === "debug") : destination);
  tellFailures(destination, log);
  return log;
}

function readableTo(destination: pino.DestinationStream, isVerbose: boolean): pino.DestinationStream {
  const hasColours = process.stdout.hasColors?.() ?? false;
  const style = (name: "dim" | "yellow" | "red", text: string): string =>
    hasColours ? styleText(name, text, { validateStream: false }) : text;
  return {
    write(line) {
      const text = readableLog(line, { style, isVerbose });
      if (text !== undefined) destination.write(`${text}\n`);
    },
  };
}

/** Buffers lines that cannot be written and counts those it drops. Logs both once writing works again. */
function tellFailures(destination: ReturnType<typeof pino.destination>, log: Log): void {
  let failed: { code: unknown; lost: number; again: NodeJS.Timeout } | undefined;
  let isWritten = true;
  const tryAgain = (): void => {
    isWritten = true;
    destination.write(""); // `flushSync` would block the process until the disk has room
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
