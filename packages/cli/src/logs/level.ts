export const logLevels = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;
export type LogLevel = (typeof logLevels)[number];

const PINO: Record<number, LogLevel> = {
  10: "DEBUG",
  20: "DEBUG",
  30: "INFO",
  40: "WARNING",
  50: "ERROR",
  60: "CRITICAL",
};

/** Lines that do not say how bad they are count as INFO. */
export function isAtLeast(text: string, level: LogLevel | undefined): boolean {
  return level === undefined || logLevels.indexOf(levelOf(text)) >= logLevels.indexOf(level);
}

export function levelOf(text: string): LogLevel {
  const number = /^\{.*"level":(\d+)/.exec(text)?.[1];
  if (number !== undefined) return PINO[Number(number)] ?? "INFO";
  const word = /\b(trace|debug|info|warn|warning|error|critical|fatal)\b/i
    .exec(text.slice(0, 80))?.[1]
    ?.toUpperCase();
  if (word === "WARN") return "WARNING";
  if (word === "TRACE") return "DEBUG";
  if (word === "FATAL") return "CRITICAL";
  return (
    logLevels.find((each) => each === word) ?? (/^\s*(?:\w*Error|Uncaught)\b/.test(text) ? "ERROR" : "INFO")
  );
}
