// Runs every test: builds the pages, makes sure there is what they need, then node's test runner.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync } from "node:fs";
import { delimiter, join } from "node:path";

interface Round {
  files: string[];
  /** Most tests mostly wait; those with clocks and ears want more of the machine for themselves. */
  atOnce: number;
}

const CACHE = join(import.meta.dirname, "../node_modules/.cache/compile");
const LISTENING = ["e2e/conformance-runner.test.ts", "e2e/conformance-service.test.ts"];
const TIMED = filesOf(["e2e/{hosted,runner,telephony}/*.test.ts", "e2e/*-p{age,anel}.test.ts"]);
const REST = filesOf(["packages/**/*.test.ts", "e2e/**/*.test.ts"]).filter(
  (file) => !LISTENING.includes(file) && !TIMED.includes(file),
);
const rounds: Round[] =
  process.argv.length > 2
    ? [{ files: process.argv.slice(2), atOnce: 1 }]
    : [
        { files: LISTENING, atOnce: 1 },
        { files: TIMED, atOnce: 2 },
        { files: REST, atOnce: 3 },
      ];

run(process.execPath, ["scripts/build-client-page.ts"]);
run(process.execPath, ["scripts/build-dashboard.ts"]);
ensureChromium();
ensurePostgres();
ensureFakeTime();
const counts = { passed: 0, failed: 0, skipped: 0 };
let status = 0;
for (const round of rounds) status = (await runRound(round)) || status;
if (rounds.length > 1)
  console.log(`\nAll: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(status);

async function runRound({ files, atOnce }: Round): Promise<number> {
  const child = spawn(
    process.execPath,
    [
      "--conditions=@vocalhost/source",
      "--test",
      `--test-concurrency=${atOnce}`,
      "--test-reporter=./scripts/test-reporter.ts",
      "--test-reporter-destination=stdout",
      ...files,
    ],
    // Tests start hundreds of processes of ours; read and stripped once is enough.
    { stdio: ["ignore", "pipe", "inherit"], env: { NODE_COMPILE_CACHE: CACHE, ...process.env } },
  );
  let end = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    process.stdout.write(text);
    end = (end + text).slice(-200);
  });
  const [code] = (await once(child, "close")) as [number | null];
  const [, passed, failed, skipped] = /(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$/.exec(end) ?? [];
  counts.passed += Number(passed ?? 0);
  counts.failed += Number(failed ?? 0);
  counts.skipped += Number(skipped ?? 0);
  return code ?? 1;
}

function filesOf(patterns: string[]): string[] {
  const isOurs = (path: string): boolean => !/(?:^|\/)(?:node_modules|dist)\//.test(path);
  return globSync(patterns).filter(isOurs).sort();
}

function ensureChromium(): void {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const found = ["chromium", "chromium-browser", "google-chrome"].some((name) =>
    folders.some((folder) => existsSync(join(folder, name))),
  );
  if (found || process.env["CHROMIUM_PATH"]) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    console.error("The browser tests need Chromium. Install it, or set CHROMIUM_PATH to its program file.");
    process.exit(1);
  }
  console.log("Installing Chromium with apt-get …");
  run("apt-get", ["update", "-qq"]);
  run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"]);
}

function ensurePostgres(): void {
  const folders = [
    "/usr/local/bin",
    "/usr/bin",
    "/opt/homebrew/bin",
    ...globSync("/usr/lib/postgresql/*/bin"),
  ];
  if (folders.some((folder) => existsSync(join(folder, "initdb")))) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    console.error("The store's tests need PostgreSQL (initdb, pg_ctl, createdb). Install it.");
    process.exit(1);
  }
  console.log("Installing PostgreSQL with apt-get …");
  run("apt-get", ["update", "-qq"]);
  run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "postgresql"]);
}

/** Without it the tests of a clock that is set are skipped. */
function ensureFakeTime(): void {
  if (globSync("/usr/lib/*/faketime/libfaketimeMT.so.1").length > 0) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  console.log("Installing libfaketime with apt-get …");
  run("apt-get", ["update", "-qq"]);
  run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "libfaketime"]);
}

function run(command: string, args: string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (stdout && command === process.execPath) process.stdout.write(stdout);
  if (status === 0) return;
  console.error(`${command} ${args.join(" ")} failed:\n${stdout}\n${stderr}`);
  process.exit(1);
}
