import type { TestEvent } from "node:test/reporters";
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { inspect } from "node:util";

const isLong = process.env["VOCALHOST_TEST_SIZES"] === "long"; // its counts go into the docs
const RESULTS = process.env["VOCALHOST_TEST_RESULTS"];
const NODES_OWN = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

/** The results of a file's tests; `scripts/test.ts` reads a line of JSON for each. */
export interface FileResult {
  file: string;
  passed: number;
  skipped: number;
  /** In full. */
  failures: string[];
}

/** Prints every failure in full, and one line per process: for its file, or for all files that share it. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const results: FileResult[] = [];
  const files = new Set<string>();
  // Files are told of one after the other; where a test was declared does not say which file it belongs to.
  let current: FileResult = { file: "", passed: 0, skipped: 0, failures: [] };
  const finish = (file: string): FileResult => {
    const finished = { ...current, file };
    results.push(finished);
    current = { file: "", passed: 0, skipped: 0, failures: [] };
    return finished;
  };
  const fail = (text: string): string => {
    current.failures.push(text);
    return `\n✖ ${text}\n`;
  };
  for await (const event of events) {
    if (event.type === "test:stdout" || event.type === "test:stderr") yield event.data.message;
    // An error after the last test: the process ends badly although every test passed.
    if (event.type === "test:diagnostic" && event.data.message.startsWith("Error: "))
      yield `\n✖ ${place(event.data.file)}\n${event.data.message}\n`;
    if (event.type === "test:diagnostic" && isLong && !NODES_OWN.test(event.data.message))
      yield `ℹ ${event.data.message}\n`;
    if (isInterruption(event))
      for (const { file, name } of event.data.tests)
        yield fail(`${place(file)} › ${name}\nwas not finished when time was up`);
    if (event.type === "test:summary" && event.data.file)
      yield line(finish(place(event.data.file)), event.data.duration_ms);
    if (event.type === "test:summary" && !event.data.file && results.length === 0)
      yield line(finish(folderOf([...files])), event.data.duration_ms);
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { data } = event;
    if (isFileItself(data)) {
      const isTold = results.some(({ file, failures }) => file === place(data.file) && failures.length > 0);
      if (event.type === "test:pass" || isTold) continue;
      yield fail(`${place(data.file)}\n${toldInFull(event.data.details.error)}`);
      finish(place(data.file));
      continue;
    }
    if (
      data.details.type === "suite" &&
      (event.type === "test:pass" || isToldAlready(event.data.details.error))
    )
      continue;
    files.add(place(data.file));
    if (data.skip !== undefined || data.todo !== undefined) current.skipped += 1;
    else if (event.type === "test:pass") current.passed += 1;
    else {
      const { error } = event.data.details;
      yield fail(`${place(data.file)} › ${data.name}\n${toldInFull(error.cause ?? error)}`);
    }
  }
  if (current.failures.length > 0) finish(folderOf([...files]));
  if (RESULTS) for (const each of results) appendFileSync(RESULTS, `${JSON.stringify(each)}\n`);
}

function line({ file, passed, failures }: FileResult, ms: number): string {
  const failed = failures.length > 0 ? `, ${failures.length} failed` : "";
  return `${failed ? "✖" : "✔"} ${file}  ${passed} passed${failed}  ${(ms / 1000).toFixed(1)} s\n`;
}

/** Returns the folder of files that shared a process. */
function folderOf([first = "", ...others]: string[]): string {
  const parts = first.split("/").slice(0, -1);
  while (parts.length > 0 && !others.every((file) => file.startsWith(`${parts.join("/")}/`))) parts.pop();
  return parts.join("/");
}

// `fetch failed` alone does not name the cause.
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
