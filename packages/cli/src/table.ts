import { stripVTControlCharacters } from "node:util";
import type { Style, Ui } from "./ui.ts";

/** A cell with a style; a bare text has none. */
export type Cell = string | { text: string; style: Style };

const GAP = "  ";
const WIDTH_MAX = 100; // of a table; whoever wants it all asks for JSON
const NARROWEST = 8;

/** Columns under their names, the widest cut where the table would be too wide. What the service sent is shown, not obeyed. */
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
