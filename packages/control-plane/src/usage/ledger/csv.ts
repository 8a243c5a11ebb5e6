/** Lines for spreadsheets (RFC 4180). Text that a spreadsheet would take for a formula is made inert. */
export function toCsv(rows: (string | number)[][]): string {
  return rows.map((row) => `${row.map(toCell).join(",")}\r\n`).join("");
}

function toCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const inert = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n\t]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
