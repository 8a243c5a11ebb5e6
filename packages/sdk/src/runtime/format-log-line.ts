import { styleText } from "node:util";

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
