import type { TestEvent } from "node:test/reporters";
import { relative } from "node:path";
import { inspect } from "node:util";

const isLong = process.env["VOCALHOST_TEST_SIZES"] === "long"; // its counts go into the docs
const NODES_OWN = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

interface FileTally {
  passed: number;
  failed: number;
}

/** Every failure in full, the counts last; of a run over several files also a line for each. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const tally = { passed: 0, failed: 0, skipped: 0 };
  const files = new Map<string, FileTally>();
  for await (const event of events) {
    if (event.type === "test:stdout" || event.type === "test:stderr") yield event.data.message;
    // What a test left behind and what then went wrong: the process ends badly although every test passed.
    if (event.type === "test:diagnostic" && event.data.message.startsWith("Error: "))
      yield `\n✖ ${place(event.data.file)}\n${event.data.message}\n`;
    if (event.type === "test:diagnostic" && isLong && !NODES_OWN.test(event.data.message))
      yield `ℹ ${event.data.message}\n`;
    if (isInterruption(event)) yield unfinished(event.data.tests);
    if (event.type === "test:summary" && event.data.file)
      yield fileLine(event.data.file, files.get(event.data.file), event.data.duration_ms);
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { data } = event;
    if (data.details.type === "suite" || isFileItself(data)) {
      if (event.type === "test:pass") continue;
      if (!isFileItself(data) && isToldAlready(event.data.details.error)) continue;
    }
    const file = files.get(data.file ?? "") ?? { passed: 0, failed: 0 };
    files.set(data.file ?? "", file);
    if (data.skip !== undefined || data.todo !== undefined) tally.skipped += 1;
    else if (event.type === "test:pass") {
      tally.passed += 1;
      file.passed += 1;
    } else {
      tally.failed += 1;
      file.failed += 1;
      const { error } = event.data.details;
      yield `\n✖ ${place(data.file)} › ${data.name}\n${toldInFull(error.cause ?? error)}\n`;
    }
  }
  const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : "";
  yield `\n${tally.passed} passed, ${tally.failed} failed${skipped}\n`;
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

function unfinished(tests: UnfinishedTest[]): string {
  return tests
    .map(({ file, name }) => `\n✖ ${place(file)} › ${name}\nwas not finished when time was up\n`)
    .join("");
}

// With a process per file the runner reports the file as a test of its own.
function isFileItself(data: { name: string; file?: string | undefined; nesting: number }): boolean {
  return (
    data.nesting === 0 &&
    data.file !== undefined &&
    (data.file.endsWith(data.name) || data.name === data.file)
  );
}

function fileLine(file: string, counts: FileTally | undefined, ms: number): string {
  if (!counts) return "";
  const mark = counts.failed > 0 ? "✖" : "✔";
  const failed = counts.failed > 0 ? `, ${counts.failed} failed` : "";
  return `${mark} ${place(file)}  ${counts.passed} passed${failed}  ${(ms / 1000).toFixed(1)} s\n`;
}

function place(file: string | undefined): string {
  return file ? relative(process.cwd(), file) : "(no file)";
}
