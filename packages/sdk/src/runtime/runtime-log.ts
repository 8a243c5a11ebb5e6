import { styleText } from "node:util";
import pino from "pino";
import type { Log } from "../log.ts";

/** The process's log, usable before its settings are known. */
export interface RuntimeLog {
  log: Log;
  configure(config: { logLevel: LogLevel; logFormat: LogFormat }): void;
}

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error";
export type LogFormat = "text" | "json";

export function createRuntimeLog(output: (text: string) => void = print): RuntimeLog {
  let format: LogFormat = "text";
  const destination = {
    write: (line: string): void =>
      output(format === "json" ? line : formatLogLine(line, process.stdout.isTTY)),
  };
  const levels = pino({ level: "trace", base: null }, destination);
  let enabled: pino.Level = "info";
  return {
    log: levelled(levels, () => enabled),
    configure({ logLevel, logFormat }) {
      enabled = logLevel;
      format = logFormat;
    },
  };
}

function print(text: string): void {
  process.stdout.write(text);
}

// pino's children keep the level of their creation; these follow the flags.
function levelled(logger: pino.Logger, enabled: () => pino.Level): Log {
  const at =
    (level: pino.Level) =>
    (fields: object, message: string): void => {
      if (pino.levels.values[level]! < pino.levels.values[enabled()]!) return;
      try {
        logger[level](fields, message);
      } catch {
        sayAtLeast(logger, level, message);
      }
    };
  return {
    trace: at("trace"),
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => levelled(logger.child(fields), enabled),
  };
}

// A bot's error may fail to serialise, and the output may be closed. A log line must not end a session.
function sayAtLeast(logger: pino.Logger, level: pino.Level, message: string): void {
  try {
    logger[level](message);
  } catch {
    // there is no output left
  }
}

interface LogLine {
  level: number;
  time: number;
  msg: string;
  sessionId?: string;
  err?: { message?: string; stack?: string };
  [field: string]: unknown;
}

const LEVELS = [
  { from: 50, name: "error", style: "red" },
  { from: 40, name: "warn", style: "yellow" },
  { from: 30, name: "info", style: "green" },
  { from: 20, name: "debug", style: "blue" },
  { from: 0, name: "trace", style: "gray" },
] as const;

/** Formats a pino line for reading: time, level, message, then the fields. */
export function formatLogLine(line: string, colours: boolean): string {
  const { level, time, msg, err, sessionId, ...fields } = JSON.parse(line) as LogLine;
  const row = LEVELS.find(({ from }) => level >= from) ?? LEVELS[2];
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const clock = new Date(time).toTimeString().slice(0, 8); // a locale's format would cost the first line 20 ms
  const details = Object.entries(sessionId ? { session: sessionId.slice(0, 8), ...fields } : fields);
  const shown = details.map(([name, value]) => `${name}=${fieldText(value)}`);
  const head = `${paint("gray", clock)} ${paint(row.style, row.name.padEnd(5))} ${msg}`;
  const tail = shown.length > 0 ? ` ${paint("gray", shown.join(" "))}` : "";
  const stack = err?.stack ?? err?.message;
  return `${head}${tail}\n${stack ? `${stack}\n` : ""}`;
}

// Fields may hold callers' data, which must not move the cursor or fake a line.
function fieldText(value: unknown): string {
  return typeof value === "string" && !/[\p{Cc}\p{Cf}]/u.test(value) ? value : JSON.stringify(value);
}
