import type { Benchmark, Row } from "./row.ts";

/** Tables of bench/README.md, and the benchmarks whose newest figures each of them has. */
export const SUBJECTS: Record<string, string[]> = {
  runner: [
    ...["startup", "session-start", "first-audio", "latency", "conversation", "sessions"],
    ...["blocked", "calls", "capacity"],
  ],
  hosted: ["hosted", "history"],
  machines: ["postgres", "fail-over", "live-sessions"],
  containers: ["containers", "container-crowd", "container-builds"],
  kubernetes: ["cold-pods", "pods", "kwok"],
  rooms: ["rooms", "room-bots"],
  isolation: ["viva", "filtered-sessions"],
  turns: ["turns", "turns-of-people"],
};

const COLUMNS = [
  "what",
  "target",
  "measured",
  "baseline of the same run",
  "met",
  "date",
  "machine",
  "command",
];

export interface Measured {
  benchmark: Benchmark["name"];
  rows: Row[];
  /** `2026-11-19` */
  date: string;
  /** A letter of the page's list of machines. */
  machine: string;
}

/** Returns the page with a benchmark's rows replaced in the table of its subject; other rows stay. */
export function updatePage(page: string, { benchmark, rows, date, machine }: Measured): string {
  const subject = Object.keys(SUBJECTS).find((name) => SUBJECTS[name]?.includes(benchmark));
  if (subject === undefined) throw new Error(`bench/report/update-page.ts has no subject for ${benchmark}`);
  const [before, table, after] = tableOf(page, subject);
  const command = `\`bench -- ${benchmark}\``;
  const made = rows.map(({ what, target = "", measured, baseline = "", met }) =>
    [what, target, measured, baseline, met === undefined ? "" : met ? "yes" : "no", date, machine, command]
      .map((cell) => cell.replaceAll("|", "\\|"))
      .join(" | "),
  );
  const old = rowsOf(table);
  const isOwn = (line: string): boolean => line.includes(command);
  const at = old.findIndex(isOwn);
  const others = old.filter((line) => !isOwn(line));
  others.splice(at < 0 ? others.length : at, 0, ...made.map((line) => `| ${line} |`));
  const head = [`| ${COLUMNS.join(" | ")} |`, `|${COLUMNS.map(() => " --- |").join("")}`];
  return `${before}${[...head, ...others].join("\n")}${after}`;
}

/** Returns the letter under which the page lists this machine, and the page with it. */
export function listMachine(page: string, machine: string): { page: string; letter: string } {
  const [before, list, after] = partsOf(page, "machines-list");
  const lines = list.split("\n").filter((line) => line.startsWith("- "));
  const known = lines.find((line) => line.slice("- **A** ".length) === machine);
  const letter = known?.at("- **".length) ?? String.fromCodePoint("A".codePointAt(0)! + lines.length);
  if (known === undefined) lines.push(`- **${letter}** ${machine}`);
  return { page: `${before}${lines.join("\n")}${after}`, letter };
}

/** Returns the rows of a subject's table, without its head. */
export function rowsOf(table: string): string[] {
  return table
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2);
}

export function tableOf(page: string, subject: string): [before: string, table: string, after: string] {
  return partsOf(page, subject);
}

function partsOf(page: string, name: string): [string, string, string] {
  const [open, close] = [`<!-- ${name} -->\n\n`, `\n\n<!-- /${name} -->`];
  const start = page.indexOf(open);
  const end = page.indexOf(close, start);
  if (start < 0 || end < 0) throw new Error(`bench/README.md lacks the markers of ${name}`);
  return [page.slice(0, start + open.length), page.slice(start + open.length, end), page.slice(end)];
}
