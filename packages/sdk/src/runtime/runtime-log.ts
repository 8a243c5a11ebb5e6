import pino from "pino";
import type { Log } from "../log.ts";
import { formatLogLine } from "./format-log-line.ts";

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
