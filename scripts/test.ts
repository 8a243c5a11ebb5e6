// Runs tests: builds the pages, makes sure there is what they need, then a process per file of e2e tests and one per
// folder of unit tests, as many at a time as the cores have time for.
//   node scripts/test.ts [--checks] [--long] [files or patterns]
import { spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runChecks } from "./checks.ts";
import { provide } from "./provisions.ts";
import { installFor, installForAll } from "./suite-packages.ts";
import { createSpareTime } from "./spare-time.ts";

/** What one process runs. */
interface Batch {
  name: string;
  files: string[];
}

interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
}

const BATCH_MAX_MS = 20 * 60_000; // every wait inside has a deadline; this is for what hangs all the same
const LONG_BATCH_MAX_MS = 3 * 3_600_000;
const GIVE_UP_MS = 30_000; // an interrupted process says which tests it had not finished
const COUNTS = /(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$/;
const FILE_LINES = /^[✔✖] \S+ {2}\d+ passed.*\n/gm; // ours counts the whole process
// Starting a process costs more than most unit tests: a package has one, and these folders of it their own.
const UNIT_FOLDER =
  /^packages\/(?:control-plane\/src\/(?:api|identity|builds|logs|sessions|simulation)|sdk\/src\/(?:conversation|instance|transports)|rooms(?:\/src\/[^/]+)?|[^/]+)(?=\/)/;
const CACHE = join(import.meta.dirname, "../node_modules/.cache/compile");
// A browser or a phone whose sound stutters for want of a core says nothing about the product: these may be judged alone.
const IN_REAL_TIME =
  /^e2e\/(?:conformance-|client-page|phone-panel|react-clients|web-pages|dashboard\/talk|conversation\/|livekit-agents\/|rooms\/|hosted\/(?:rooms|background-talker)|telephony\/(?:calls|cli-calls)|runner\/connect-time)/;
const NEEDS_BASE_IMAGE = /testing\/(?:base|bot)-image\.ts"/;
// A network card that comes or goes, as one does with every container, makes a browser give up what it is loading: the one
// kind of test runs after the other.
const HAS_BROWSER =
  /^e2e\/(?:conformance-(?:runner|service)|client-page|phone-panel|react-clients|web-pages|dashboard\/|rooms\/|runner\/guards-browser)/;
const HAS_ENGINE = /container-engine\.ts"/;
// What takes longest begins first, so that the end is not spent waiting for one file; what listens in real time begins
// while little else runs.
const ORDER = [
  "e2e/conformance-{runner,service}.test.ts",
  "e2e/dashboard/{agents,accounts}.test.ts",
  "e2e/{packed-packages,docs/walk}.test.ts",
  "e2e/hosted/{backup,billing,crash,store-faults,store-failover}.test.ts",
  "e2e/telephony/hostile-calls.test.ts",
  "e2e/{phone-panel,client-page,react-clients,web-pages}.test.ts",
  "e2e/dashboard/{talk,records}.test.ts",
  "e2e/{dashboard,rooms}/*.test.ts",
  "e2e/runner/guards-browser.test.ts",
  "e2e/cli/operate.test.ts",
  "packages/gateway/**/*.test.ts",
  "packages/sdk/src/{instance,transports,conversation}/**/*.test.ts",
  "packages/drivers/**/*.test.ts",
  "e2e/hosted/*.test.ts",
  "e2e/{telephony,conversation,livekit-agents}/*.test.ts",
  "packages/control-plane/src/simulation/*.test.ts",
  "e2e/**/*.test.ts",
  "packages/**/*.test.ts",
];
const ONLY_LONG = "e2e/**/*.long.ts";

const { values, positionals } = parseArgs({
  options: { checks: { type: "boolean", default: false }, long: { type: "boolean", default: false } },
  allowPositionals: true,
});

const files = filesOf(
  positionals.length > 0 ? positionals : values.long ? [...ORDER, ONLY_LONG] : ORDER,
).filter(
  (file) =>
    !values.long || file.endsWith(".long.ts") || readFileSync(file, "utf8").includes("testing/sizes.ts"),
);
if (values.checks) installForAll();
else installFor(files);
const checks = values.checks ? runChecks() : true; // they need no more than npm's packages
const batches = toBatches(files);
const { baseImage } = await provide({
  withBaseImage: batches.some((batch) => mentions(batch, NEEDS_BASE_IMAGE)),
});
const checksPassed = await checks; // tests that listen to sound would get too little time beside them
const total: Outcome = { passed: 0, failed: 0, skipped: 0 };
const failures: string[] = [];
const tooBusy: Batch[] = [];
await runAll(batches, positionals.length > 0 ? 1 : undefined);
if (tooBusy.length > 0) {
  console.log("\nOnce more, one at a time: what listens to sound as it is made and had too little time.\n");
  await runAll(tooBusy.splice(0), 1);
}
if (failures.length > 0) console.log(`\nFailures again:\n\n${failures.join("\n\n")}`);
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed === 0 && checksPassed ? 0 : 1;

async function runAll(batches: Batch[], atOnce?: number): Promise<void> {
  const running = new Set<Promise<void>>();
  const browsers: Promise<void>[] = [];
  using spareTime = createSpareTime(atOnce);
  for (const batch of batches) {
    if (mentions(batch, HAS_ENGINE)) await Promise.all(browsers);
    await spareTime.forOneMore(running);
    const run = runBatch(batch, { mayRepeat: atOnce === undefined }).then(() => void running.delete(run));
    running.add(run);
    if (HAS_BROWSER.test(batch.name)) browsers.push(run);
  }
  await Promise.all(running);
}

function mentions({ files: own }: Batch, what: RegExp): boolean {
  return own.some((file) => what.test(readFileSync(file, "utf8")));
}

/** Unit tests of a folder share a process, since starting one costs more than most of them; containers take their time. */
function toBatches(all: string[]): Batch[] {
  const batches = new Map<string, Batch>();
  for (const file of all) {
    const isLong = HAS_ENGINE.test(readFileSync(file, "utf8"));
    const name = (isLong ? undefined : UNIT_FOLDER.exec(file)?.[0]) ?? file;
    const batch = batches.get(name) ?? { name, files: [] };
    batch.files.push(file);
    batches.set(name, batch);
  }
  return [...batches.values()];
}

async function runBatch(batch: Batch, { mayRepeat }: { mayRepeat: boolean }): Promise<void> {
  const { name, files: own } = batch;
  if (mentions(batch, NEEDS_BASE_IMAGE)) await baseImage;
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    [
      "--conditions=@vocalhost/source",
      "--test-reporter=./scripts/test-reporter.ts",
      "--test-reporter-destination=stdout",
      "--test",
      "--test-isolation=none",
      ...own,
    ],
    {
      stdio: ["ignore", "pipe", "pipe"],
      // Tests start hundreds of processes of ours; read and stripped once is enough.
      env: {
        NODE_COMPILE_CACHE: CACHE,
        VOCALHOST_COMPILE_CACHE: CACHE,
        VOCALHOST_TEST_PROGRAMS: "built",
        ...process.env,
        ...(values.long ? { VOCALHOST_TEST_SIZES: "long" } : {}),
      },
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const maxMs = values.long ? LONG_BATCH_MAX_MS : BATCH_MAX_MS;
  const interrupt = setTimeout(() => child.kill("SIGINT"), maxMs);
  const kill = setTimeout(() => child.kill("SIGKILL"), maxMs + GIVE_UP_MS);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(interrupt);
  clearTimeout(kill);
  const outcome = read(output, code);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const failed = outcome.failed > 0 ? `, ${outcome.failed} failed` : "";
  const told = output.replace(COUNTS, "").replace(FILE_LINES, "").trim();
  if (told) console.log(`\n${told}\n`);
  console.log(`${outcome.failed > 0 ? "✖" : "✔"} ${name}  ${outcome.passed} passed${failed}  ${seconds} s`);
  if (outcome.failed > 0 && mayRepeat && IN_REAL_TIME.test(name)) return void tooBusy.push(batch);
  if (outcome.failed > 0) failures.push(`${name}\n${told}`);
  total.passed += outcome.passed;
  total.failed += outcome.failed;
  total.skipped += outcome.skipped;
}

/** A process that breaks off says no counts, or exits badly although none of its tests failed. */
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
