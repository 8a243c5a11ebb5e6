import type { TestEvent } from "node:test/reporters";
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { inspect } from "node:util";

const isLong = process.env["VOCALHOST_TEST_SIZES"] === "long"; // its counts go into the docs
const RESULTS = process.env["VOCALHOST_TEST_RESULTS"];
const NODES_OWN = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

/** What became of a file's tests; `scripts/test.ts` reads a line of JSON for each. */
export interface FileResult {
  file: string;
  passed: number;
  skipped: number;
  /** In full. */
  failures: string[];
}

/** Every failure in full, a line for each file that had a process of its own, or for all that shared one. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const results = new Map<string, FileResult>();
  const resultOf = (path: string | undefined): FileResult => {
    const file = place(path);
    const known = results.get(file) ?? { file, passed: 0, skipped: 0, failures: [] };
    results.set(file, known);
    return known;
  };
  const fail = (path: string | undefined, text: string): string => {
    resultOf(path).failures.push(text);
    return `\n✖ ${text}\n`;
  };
  for await (const event of events) {
    if (event.type === "test:stdout" || event.type === "test:stderr") yield event.data.message;
    // What a test left behind and what then went wrong: the process ends badly although every test passed.
    if (event.type === "test:diagnostic" && event.data.message.startsWith("Error: "))
      yield `\n✖ ${place(event.data.file)}\n${event.data.message}\n`;
    if (event.type === "test:diagnostic" && isLong && !NODES_OWN.test(event.data.message))
      yield `ℹ ${event.data.message}\n`;
    if (isInterruption(event))
      for (const { file, name } of event.data.tests)
        yield fail(file, `${place(file)} › ${name}\nwas not finished when time was up`);
    if (event.type === "test:summary" && event.data.file) {
      const own = resultOf(event.data.file);
      yield line(own.file, [own], event.data.duration_ms);
    } else if (event.type === "test:summary" && !event.data.file) {
      const all = [...results.values()];
      if (process.execArgv.includes("--test-isolation=none"))
        yield line(folderOf(all), all, event.data.duration_ms);
    }
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { data } = event;
    if (data.details.type === "suite" || isFileItself(data)) {
      if (event.type === "test:pass") continue;
      if (isToldAlready(event.data.details.error)) continue;
    }
    const own = resultOf(data.file);
    if (data.skip !== undefined || data.todo !== undefined) own.skipped += 1;
    else if (event.type === "test:pass") own.passed += 1;
    else {
      const { error } = event.data.details;
      yield fail(data.file, `${place(data.file)} › ${data.name}\n${toldInFull(error.cause ?? error)}`);
    }
  }
  if (RESULTS) for (const each of results.values()) appendFileSync(RESULTS, `${JSON.stringify(each)}\n`);
}

function line(name: string, results: FileResult[], ms: number): string {
  const sum = (count: (result: FileResult) => number): number =>
    results.reduce((total, each) => total + count(each), 0);
  const failed = sum(({ failures }) => failures.length);
  const told = `${sum(({ passed }) => passed)} passed${failed > 0 ? `, ${failed} failed` : ""}`;
  return `${failed > 0 ? "✖" : "✔"} ${name}  ${told}  ${(ms / 1000).toFixed(1)} s\n`;
}

/** Of files that shared a process. */
function folderOf(results: FileResult[]): string {
  const [first = "", ...others] = results.map(({ file }) => file);
  const parts = first.split("/").slice(0, -1);
  while (parts.length > 0 && !others.every((file) => file.startsWith(`${parts.join("/")}/`))) parts.pop();
  return parts.join("/");
}

// `fetch failed` alone helps nobody.
function toldInFull(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error);
  const own = error.stack ?? error.message;
  if (error instanceof SuppressedError)
    return `${own}\nwhat failed: ${toldInFull(error.suppressed)}\nand then: ${toldInFull(error.error)}`;
  return error.cause === undefined ? own : `${own}\nbecause of ${toldInFull(error.cause)}`;
}

// A suite fails by its tests, or by what comes before and after them. Missing in the type declarations.
function isToldAlready(error: Error & { failureType?: string }): boolean {
  return error.failureType === "subtestsFailed";
}

interface UnfinishedTest {
  name: string;
  file?: string;
}

// Missing in the type declarations.
function isInterruption(event: {
  type: string;
}): event is { type: string; data: { tests: UnfinishedTest[] } } {
  return event.type === "test:interrupted";
}

// With a process per file the runner reports the file as a test of its own.
function isFileItself(data: { name: string; file?: string | undefined; nesting: number }): boolean {
  return (
    data.nesting === 0 &&
    data.file !== undefined &&
    (data.file.endsWith(data.name) || data.name === data.file)
  );
}

function place(file: string | undefined): string {
  return file ? relative(process.cwd(), file) : "(no file)";
}
