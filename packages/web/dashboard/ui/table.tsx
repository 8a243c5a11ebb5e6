import type { ReactNode } from "react";

export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  /** Numbers stand at the right. */
  align?: "right";
  /** Left out where there is little room; the row's page has it. */
  wideOnly?: boolean;
  /** The header is only read out. */
  hiddenHeader?: boolean;
  /** Takes no more room than it needs. */
  narrow?: boolean;
}

interface TableProps<Row> {
  /** Read out before the table. */
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
}

/** Rows of things of one kind. A cell that leads somewhere holds a link, so that keys and new tabs work. */
export function Table<Row>({ caption, columns, rows, rowKey }: TableProps<Row>) {
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={caption}>
      <table className="w-full border-collapse text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.header}
                scope="col"
                className={`border-b border-line px-3 py-2.5 first:pl-5 last:pr-5 md:px-5 text-left text-[0.8125rem] font-medium whitespace-nowrap text-muted ${lookOf(column)}`}
              >
                {column.hiddenHeader ? <span className="sr-only">{column.header}</span> : column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr key={rowKey(row)} className="transition-colors hover:bg-paper/70">
              {columns.map((column) => (
                <td
                  key={column.header}
                  className={`px-3 py-3 align-middle first:pl-5 last:pr-5 md:px-5 ${lookOf(column)}`}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function lookOf({ align, wideOnly, narrow }: Pick<Column<never>, "align" | "wideOnly" | "narrow">): string {
  return [
    align === "right" ? "text-right tabular-nums" : "",
    wideOnly ? "max-md:hidden" : "",
    narrow ? "w-px whitespace-nowrap" : "",
  ].join(" ");
}
