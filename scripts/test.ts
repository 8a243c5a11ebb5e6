// Runs tests: builds the pages, makes sure there is what they need, then a process per file, a few at a time.
//   node scripts/test.ts [--checks] [--long] [files or patterns]
import { spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runChecks } from "./checks.ts";
import { provide } from "./provisions.ts";

interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
}

const AT_ONCE = 2 * availableParallelism(); // most tests mostly wait
const FILE_MAX_MS = 30 * 60_000; // every wait inside has a deadline; this is for what hangs all the same
const COUNTS = /(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$/;
const FILE_LINE = /^[✔✖] \S+ {2}\d+ passed.*\n/m; // ours counts the whole process
const CACHE = join(import.meta.dirname, "../node_modules/.cache/compile");
// What takes longest begins first, so that the end is not spent waiting for one file.
const ORDER = [
  "e2e/conformance-*.test.ts",
  "e2e/hosted/*.test.ts",
  "e2e/{telephony,dashboard,rooms}/*.test.ts",
  "packages/control-plane/src/simulation/*.test.ts",
  "e2e/**/*.test.ts",
  "packages/**/*.test.ts",
];

const { values, positionals } = parseArgs({
  options: { checks: { type: "boolean", default: false }, long: { type: "boolean", default: false } },
  allowPositionals: true,
});

const files = filesOf(positionals.length > 0 ? positionals : ORDER).filter(
  (file) => !values.long || readFileSync(file, "utf8").includes("testing/sizes.ts"),
);
provide();
const checks = values.checks ? runChecks() : Promise.resolve(true);
const total: Outcome = { passed: 0, failed: 0, skipped: 0 };
const waiting = [...files];
const failures: string[] = [];
await Promise.all(Array.from({ length: positionals.length > 0 ? 1 : AT_ONCE }, work));
const checksPassed = await checks;
if (failures.length > 0) console.log(`\nFailures again:\n\n${failures.join("\n\n")}`);
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed === 0 && checksPassed ? 0 : 1;

async function work(): Promise<void> {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const outcome = await runFile(file);
    total.passed += outcome.passed;
    total.failed += outcome.failed;
    total.skipped += outcome.skipped;
  }
}

async function runFile(file: string): Promise<Outcome> {
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    [
      "--conditions=@vocalhost/source",
      "--test-reporter=./scripts/test-reporter.ts",
      "--test-reporter-destination=stdout",
      file,
    ],
    {
      stdio: ["ignore", "pipe", "pipe"],
      // Tests start hundreds of processes of ours; read and stripped once is enough.
      env: {
        NODE_COMPILE_CACHE: CACHE,
        ...process.env,
        ...(values.long ? { VOCALHOST_TEST_SIZES: "long" } : {}),
      },
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const timer = setTimeout(() => child.kill("SIGKILL"), FILE_MAX_MS);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  const outcome = read(output, code);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const failed = outcome.failed > 0 ? `, ${outcome.failed} failed` : "";
  const told = output.replace(COUNTS, "").replace(FILE_LINE, "").trim();
  if (told) console.log(`\n${told}\n`);
  if (outcome.failed > 0) failures.push(`${file}\n${told}`);
  console.log(`${outcome.failed > 0 ? "✖" : "✔"} ${file}  ${outcome.passed} passed${failed}  ${seconds} s`);
  return outcome;
}

/** A file that breaks off says no counts, or exits badly although none of its tests failed. */
function read(output: string, code: number | null): Outcome {
  const [, passed = 0, failed = 0, skipped = 0] = (COUNTS.exec(output) ?? []).map((text) =>
    Number(text ?? 0),
  );
  return { passed, failed: code === 0 ? failed : Math.max(failed, 1), skipped };
}

function filesOf(patterns: string[]): string[] {
  const isOurs = (path: string): boolean => !/(?:^|\/)(?:node_modules|dist)\//.test(path);
  return [...new Set(patterns.flatMap((pattern) => globSync(pattern).filter(isOurs).sort()))];
}
