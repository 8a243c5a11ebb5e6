// Runs tests: installs what is missing, builds the programs, then an npm script for each kind of test. What listens to sound
// as it is made says little on a machine that had no time for it, so a file of it that failed is run once more, alone.
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
const LONG_MAX_MS = String(3 * 3_600_000); // every wait inside has a deadline; this is for what hangs all the same
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
  // What calculates side by side, then what mostly waits: both processors are busy from start to end.
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

/** Also told of a process that ends badly although none of its tests failed. */
async function run(script: string, only: string[] = []): Promise<void> {
  const file = join(folder.path, script);
  writeFileSync(file, "");
  const child = spawn("npm", ["run", "--silent", script, "--", ...only], {
    stdio: "inherit",
    // Tests start hundreds of processes of ours; read and stripped once is enough.
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
