import { stripVTControlCharacters } from "node:util";
import type { CommandContext } from "./define-command.ts";
import type { Style, Ui } from "./ui.ts";

/** Prints the result: as one JSON object with `--json`, else as text. */
export function answer(
  { ui, isJson }: Pick<CommandContext, "ui" | "isJson">,
  result: object,
  text: string,
): void {
  ui.print(isJson ? JSON.stringify({ ok: true, ...result }) : text);
}

/** A cell with a style; a bare text has none. */
export type Cell = string | { text: string; style: Style };

const GAP = "  ";
const WIDTH_MAX = 100; // of a table; --json shows everything
const NARROWEST = 8;

/** Aligns columns under their names and cuts the widest if the table is too wide. Control characters are removed. */
export function toTable(ui: Pick<Ui, "style">, columns: readonly string[], rows: readonly Cell[][]): string {
  const texts = rows.map((row) => row.map(textOf));
  const widths = fitting(
    columns.map((name, at) => Math.max(name.length, ...texts.map((row) => lengthOf(row[at] ?? "")))),
  );
  const pad = (text: string, at: number): string => padded(text, widths[at] ?? 0);
  const head = columns.map((name, at) => ui.style("dim", pad(name, at))).join(GAP);
  const lines = rows.map((row, index) =>
    row
      .map((cell, at) => {
        const shown = pad(texts[index]?.[at] ?? "", at);
        return typeof cell === "string" ? shown : ui.style(cell.style, shown);
      })
      .join(GAP)
      .trimEnd(),
  );
  return [head.trimEnd(), ...lines].join("\n");
}

function fitting(widths: number[]): number[] {
  const fitted = [...widths];
  const overall = (): number => fitted.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  while (overall() > WIDTH_MAX) {
    const widest = fitted.indexOf(Math.max(...fitted));
    if (fitted[widest]! <= NARROWEST) break;
    fitted[widest]! -= 1;
  }
  return fitted;
}

function padded(text: string, width: number): string {
  const characters = [...text];
  if (characters.length > width) return `${characters.slice(0, width - 1).join("")}…`;
  return text + " ".repeat(width - characters.length);
}

/** Names and values, one a line. */
export function toFacts(
  ui: Pick<Ui, "style">,
  facts: readonly (readonly [name: string, value: Cell])[],
): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts
    .map(([name, value]) => {
      const lines = textOf(value).split("\n");
      const text = lines.join(`\n${" ".repeat(width)}${GAP}`);
      return `${ui.style("dim", name.padEnd(width))}${GAP}${typeof value === "string" ? text : ui.style(value.style, text)}`;
    })
    .join("\n");
}

function textOf(cell: Cell): string {
  return stripVTControlCharacters(typeof cell === "string" ? cell : cell.text);
}

function lengthOf(text: string): number {
  return [...text].length;
}

/** `2026-11-15 17:06:22Z` */
export function shownTime(iso: string | null | undefined): string {
  return iso ? `${iso.slice(0, 10)} ${iso.slice(11, 19)}Z` : "–";
}

/** `1 h 2 min`, `1 min 5 s`, `0.4 s` */
export function shownSeconds(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** `12 kB` */
export function shownBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Removes passwords and tokens from an address, for output and logs. */
export function shownUrl(address: string): string {
  const url = new URL(address);
  if (url.password !== "") url.password = "…";
  if (url.searchParams.has("token")) url.searchParams.set("token", "…");
  url.pathname = url.pathname.replace(/\/[^/]{40,}$/, "/…");
  return url.href.replaceAll("%E2%80%A6", "…");
}
