import { stripVTControlCharacters } from "node:util";
import type { Style, Ui } from "./ui.ts";

/** A cell with a style; a bare text has none. */
export type Cell = string | { text: string; style: Style };

const GAP = "  ";

/** Columns under their names. What the service sent is shown, not obeyed. */
export function toTable(ui: Pick<Ui, "style">, columns: readonly string[], rows: readonly Cell[][]): string {
  const texts = rows.map((row) => row.map(textOf));
  const widths = columns.map((name, at) =>
    Math.max(name.length, ...texts.map((row) => lengthOf(row[at] ?? ""))),
  );
  const pad = (text: string, at: number): string =>
    text + " ".repeat(Math.max(0, (widths[at] ?? 0) - lengthOf(text)));
  const head = columns.map((name, at) => ui.style("dim", pad(name, at))).join(GAP);
  const lines = rows.map((row, index) =>
    row
      .map((cell, at) => {
        const padded = pad(texts[index]?.[at] ?? "", at);
        return typeof cell === "string" ? padded : ui.style(cell.style, padded);
      })
      .join(GAP)
      .trimEnd(),
  );
  return [head.trimEnd(), ...lines].join("\n");
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
