import pino from "pino";
import type { Log } from "../log.ts";
import { formatLogLine } from "./format-log-line.ts";

/** The process's log, usable before the settings that shape it are known. */
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

// pino's children keep the level they were born with; ours follow the flags.
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

// An error of a bot may not let itself be read, and its output not be written to. A session must not go wrong over a line.
function sayAtLeast(logger: pino.Logger, level: pino.Level, message: string): void {
  try {
    logger[level](message);
  } catch {
    // there is nobody left to tell
  }
}
