import type { Row } from "./row.ts";

const COLUMNS = ["what", "target", "measured", "baseline", "met", "note"] as const;

/** The rows as a Markdown table, so that it can go into a document as it is. */
export function formatTable(rows: Row[]): string {
  const cells = [COLUMNS.map(String), ...rows.map((row) => COLUMNS.map((column) => cell(row, column)))];
  const widths = COLUMNS.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  const lines = cells.map(
    (line) => `| ${line.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")} |`,
  );
  lines.splice(1, 0, `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`);
  return lines.join("\n");
}

function cell(row: Row, column: (typeof COLUMNS)[number]): string {
  if (column === "met") return row.met === undefined ? "" : row.met ? "yes" : "no";
  return row[column] ?? "";
}
