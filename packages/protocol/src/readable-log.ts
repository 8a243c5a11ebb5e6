import { parseJson } from "./parse-json.ts";
import type { z } from "zod";
import { oneOf } from "./settings.ts";

export const logFormatSetting: {
  name: string;
  schema: z.ZodOptional<ReturnType<typeof oneOf<"text" | "json">>>;
  preset: string;
  help: string;
} = {
  name: "VOCALHOST_LOG_FORMAT",
  schema: oneOf(["text", "json"]).optional(),
  preset: "`text` on a terminal, else `json`",
  help: "`text` for lines to read, `json` for one JSON object a line",
};

export interface ReadableLogOptions {
  style(style: "dim" | "yellow" | "red", text: string): string;
  /** Shows requests that went well, too. */
  isVerbose: boolean;
}

interface LogLine {
  level: number;
  time: number;
  process?: string;
  msg: string;
  [field: string]: unknown;
}

/** Formats a JSON line of a log: time, part, sentence, fields. Undefined for a line that is left out. */
export function readableLog(line: string, { style, isVerbose }: ReadableLogOptions): string | undefined {
  const read = parseJson(line) as Partial<LogLine> | undefined;
  if (typeof read?.level !== "number" || typeof read.time !== "number" || typeof read.msg !== "string")
    return line;
  const { level, time, process = "", msg, pid: _pid, hostname: _host, err, ...fields } = read as LogLine;
  const isRequest = msg === "request served";
  if (isRequest && !isVerbose && Number(fields["status"]) < 500) return undefined;
  const sentence = isRequest
    ? `${String(fields["method"])} ${String(fields["path"])} ${String(fields["status"])}, ${String(fields["ms"])} ms`
    : msg;
  const { message, stack } = (err ?? {}) as { message?: string; stack?: string };
  const isFailure = level >= 50;
  const shown = Object.entries({ ...(isRequest ? {} : fields), ...(isFailure ? {} : { err: message }) })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${fieldText(value)}`);
  const head = style("dim", `${new Date(time).toISOString().slice(11, 19)}Z ${process.padEnd(10)}`);
  const text = isFailure ? style("red", sentence) : level >= 40 ? style("yellow", sentence) : sentence;
  const tail = shown.length === 0 ? "" : `  ${style("dim", shown.join(" "))}`;
  return `${head} ${text}${tail}${isFailure && err ? `\n${inert(stack ?? message ?? "")}` : ""}`;
}

/** Lines stay lines; other control characters are shown escaped, for a message can quote what a stranger sent. */
function inert(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

// Callers can choose the text of a field; it must not move the cursor or forge a line.
function fieldText(value: unknown): string {
  return typeof value === "string" && !/[\p{Cc}\p{Cf}\s"]/u.test(value) ? value : JSON.stringify(value);
}
