import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The requests of a published tool for one command, and their answers. Values that differ from run to run are names in
 * braces: `{id:3}` and `{text:1}` stand for the same value everywhere, `{time}`, `{number}` and `{any}` for one of many.
 */
export interface Recording {
  command: string;
  exchanges: Exchange[];
}

export interface Exchange {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: unknown;
  /** A form with one file, in base64. */
  form?: { fields: Record<string, string>; file: string };
  status: number;
  /** JSON, or empty. */
  answer?: unknown;
}

export function readRecordings(): Recording[] {
  const file = fileURLToPath(new URL("recordings.json", import.meta.url));
  return JSON.parse(readFileSync(file, "utf8")) as Recording[];
}

/** Values by their names in braces. */
export type Known = ReadonlyMap<string, string>;

/** Puts in what is known of the names; throws at one that no answer has told yet. */
export function filledIn<T>(value: T, known: Known): T {
  const text = JSON.stringify(value).replace(/\{((?:[a-zA-Z]+|id:\d+|text:\d+))\}/g, (name) => {
    const found = known.get(name);
    if (found === undefined) throw new Error(`Nothing has told ${name} yet`);
    return JSON.stringify(found).slice(1, -1);
  });
  return JSON.parse(text) as T;
}

/** How an answer differs from the recorded one; more fields than recorded are none. Adds what it tells to `known`. */
export function differences(
  expected: unknown,
  actual: unknown,
  known: Map<string, string>,
  at = "answer",
): string[] {
  if (expected === "{any}") return [];
  if (expected === "{number}")
    return typeof actual === "number" ? [] : [`${at}: no number, ${shown(actual)}`];
  if (typeof expected === "string")
    return typeof actual === "string" && isTold(expected, actual, known)
      ? []
      : [unlike(at, expected, actual)];
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return [unlike(at, expected, actual)];
    return expected.flatMap((each, index) => differences(each, actual[index], known, `${at}[${index}]`));
  }
  if (typeof expected === "object" && expected !== null) {
    if (typeof actual !== "object" || actual === null) return [unlike(at, expected, actual)];
    return Object.entries(expected).flatMap(([name, each]) =>
      differences(each, (actual as Record<string, unknown>)[name], known, `${at}.${name}`),
    );
  }
  return expected === actual ? [] : [unlike(at, expected, actual)];
}

/** Whether a text is the expected one, with any value for names that are not known yet. */
function isTold(expected: string, actual: string, known: Map<string, string>): boolean {
  const names: string[] = [];
  const pattern = expected.split(/(\{[a-zA-Z]+(?::\d+)?\})/).map((part) => {
    if (!/^\{.+\}$/.test(part)) return escaped(part);
    if (part === "{time}") return String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
    const found = known.get(part);
    if (found !== undefined) return escaped(found);
    names.push(part);
    return part.startsWith("{id:") ? "([0-9a-f-]{36})" : "(.+)";
  });
  const [, ...values] = new RegExp(`^${pattern.join("")}$`).exec(actual) ?? [];
  if (!new RegExp(`^${pattern.join("")}$`).test(actual)) return false;
  for (const [index, name] of names.entries()) known.set(name, values[index] ?? "");
  return true;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function unlike(at: string, expected: unknown, actual: unknown): string {
  return `${at}: ${shown(actual)}, not ${shown(expected)}`;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 200);
}
