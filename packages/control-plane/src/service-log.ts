import pino from "pino";
import { styleText } from "node:util";
import type { Log } from "./log.ts";

/** One JSON line per event for machines; on a terminal a line to read. */
export function createServiceLog(options: { level: string; process: string }): Log {
  const base = { process: options.process };
  if (!process.stdout.isTTY)
    return pino({ level: options.level, base }, pino.destination({ fd: 1, sync: true }));
  const terminal = { write: (line: string) => process.stdout.write(toReadable(line)) };
  return pino({ level: options.level, base }, terminal);
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
