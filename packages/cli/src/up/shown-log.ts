import type { Style, Ui } from "../ui.ts";

/** A line of the service's log for people; undefined when they would not care. */
export function shownLog(
  line: string,
  { ui, isVerbose }: { ui: Pick<Ui, "style">; isVerbose: boolean },
): string | undefined {
  const entry = parse(line);
  if (!entry) return line;
  const { level, time, process: name, msg, pid: _pid, ...fields } = entry;
  const isRequest = msg === "request served";
  if (isRequest && !isVerbose && Number(fields["status"]) < 500) return undefined;
  const word = isRequest
    ? `${String(fields["method"])} ${String(fields["path"])} ${String(fields["status"])}, ${String(fields["ms"])} ms`
    : msg;
  const rest = isRequest ? "" : shownFields(fields);
  const text = `${new Date(time).toISOString().slice(11, 19)}Z ${name.padEnd(10)} ${word}${rest}`;
  return ui.style(styleOf(level), text);
}

interface LogEntry {
  level: number;
  time: number;
  process: string;
  msg: string;
  [field: string]: unknown;
}

function parse(line: string): LogEntry | undefined {
  try {
    const entry = JSON.parse(line) as Partial<LogEntry>;
    const isOurs =
      typeof entry.level === "number" && typeof entry.time === "number" && typeof entry.msg === "string";
    return isOurs ? ({ process: "", ...entry } as LogEntry) : undefined;
  } catch {
    return undefined;
  }
}

function shownFields(fields: Record<string, unknown>): string {
  const shown = Object.entries(fields).map(([name, value]) => {
    const message = (value as { message?: unknown } | null)?.message;
    const whole = typeof value === "string" ? value : JSON.stringify(value);
    return `${name}=${typeof message === "string" ? message : whole}`;
  });
  return shown.length === 0 ? "" : `  ${shown.join(" ")}`;
}

function styleOf(level: number): Style {
  if (level >= 50) return "red";
  return level >= 40 ? "yellow" : "dim";
}
