// Installs what is missing, builds the programs, then runs an npm script for each kind of test. Realtime tests fail on a
// machine without spare time, so each realtime file that failed runs once more, alone.
//   node scripts/test.ts [--checks] [--long] [files or patterns]
import { spawn } from "node:child_process";
import { globSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runChecks } from "./checks.ts";
import { provide } from "./provisions.ts";
import { installSuites } from "./suite-packages.ts";
import type { FileResult } from "./test-reporter.ts";

const CACHE = join(import.meta.dirname, "../node_modules/.cache/compile");
const LONG_MAX_MS = String(3 * 3_600_000); // for hangs that no deadline inside the tests ends
const RUN_AGAIN = "e2e/realtime/";
const WITH_ENGINE = "e2e/engine/";

const { values, positionals } = parseArgs({
  options: { checks: { type: "boolean", default: false }, long: { type: "boolean", default: false } },
  allowPositionals: true,
});
const isOurs = (path: string): boolean => !/(?:^|\/)(?:node_modules|dist)\//.test(path);
const files = positionals.flatMap((pattern) => globSync(pattern).filter(isOurs));
if (files.length === 0 && positionals.length > 0) {
  console.error(`No file is called ${positionals.join(" or ")}.`);
  process.exit(1);
}

const installed = installSuites(files, { isLong: values.long });
const checks = values.checks ? runChecks(installed) : true;
await provide({ withEngine: values.long || files.some((file) => file.startsWith(WITH_ENGINE)), installed });
const checksPassed = await checks; // tests would get too little time beside them
using folder = mkdtempDisposableSync(join(tmpdir(), "test-results-"));
let results: FileResult[] = [];
let again: string[] = [];
if (files.length > 0) await run("test:files", files);
else {
  // Tests that calculate come first, tests that mostly wait follow, so both processors stay busy.
  const calculating = run("test:unit").then(() => run("test:realtime"));
  await Promise.all([calculating, run("test:sdk").then(() => run("test:e2e"))]);
  for (const script of values.long ? ["test:engine", "test:long"] : []) await run(script);
  const failed = results.filter(({ file, failures }) => failures.length > 0 && file.startsWith(RUN_AGAIN));
  again = [...new Set(failed.map(({ file }) => file))];
}
if (again.length > 0) {
  console.log(`\nOnce more, one at a time: ${again.join(", ")}\n`);
  results = results.filter(({ file }) => !again.includes(file));
  await run("test:files", again);
}
const failures = results.flatMap((result) => result.failures);
if (failures.length > 0) console.log(`\nFailures again:\n\n${failures.join("\n\n")}`);
const sum = (of: "passed" | "skipped"): number => results.reduce((total, each) => total + each[of], 0);
const skipped = sum("skipped") > 0 ? `, ${sum("skipped")} skipped` : "";
const repeated = again.length > 0 ? `, ${again.length} run again: ${again.join(", ")}` : "";
console.log(`\n${sum("passed")} passed, ${failures.length} failed${skipped}${repeated}`);
process.exitCode = failures.length === 0 && checksPassed ? 0 : 1;

/** Runs an npm script and collects its results. A process that ends badly without a failed test counts as a failure. */
async function run(script: string, only: string[] = []): Promise<void> {
  const file = join(folder.path, script);
  writeFileSync(file, "");
  const child = spawn("npm", ["run", "--silent", script, "--", ...only], {
    stdio: "inherit",
    // Tests start hundreds of our processes: they share compiled code.
    env: {
      NODE_COMPILE_CACHE: CACHE,
      VOCALHOST_COMPILE_CACHE: CACHE,
      VOCALHOST_TEST_PROGRAMS: "built",
      VOCALHOST_TEST_RESULTS: file,
      ...process.env,
      ...(values.long ? { VOCALHOST_TEST_SIZES: "long", VOCALHOST_TEST_MAX_MS: LONG_MAX_MS } : {}),
    },
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const own = lines.filter(Boolean).map((line) => JSON.parse(line) as FileResult);
  const isTold = code === 0 || own.some((result) => result.failures.length > 0);
  const unsaid = { file: script, passed: 0, skipped: 0, failures: [`${script} ended with ${String(code)}`] };
  results.push(...own, ...(isTold ? [] : [unsaid]));
}
