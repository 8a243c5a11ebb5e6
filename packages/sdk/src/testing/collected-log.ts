import type { Log } from "../log.ts";

export interface LogEntry {
  level: "trace" | "debug" | "info" | "warn" | "error";
  message: string;
  fields: Record<string, unknown>;
}

/** Creates a log that keeps its entries. */
export function createCollectedLog(): { log: Log; entries: LogEntry[]; messages(): string[] } {
  const entries: LogEntry[] = [];
  const create = (inherited: object): Log => {
    const at = (level: LogEntry["level"]) => (fields: object, message: string) =>
      void entries.push({ level, message, fields: { ...inherited, ...fields } });
    return {
      trace: at("trace"),
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      child: (fields) => create({ ...inherited, ...fields }),
    };
  };
  return { log: create({}), entries, messages: () => entries.map(({ message }) => message) };
}
