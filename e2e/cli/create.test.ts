import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isBuilt, nodeFlags } from "../../testing/programs.ts";
import { until, within } from "../../testing/wait.ts";
import { watchProcess, type WatchedProcess } from "../harness/watched-process.ts";
import { runProgram } from "../harness/program.ts";
import { spawnDev } from "./dev-process.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const PROGRAM = join(REPOSITORY, "packages/create-vocalhost/bin/create-vocalhost.js");
const SOON_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), "create-vocalhost-e2e-"));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Made {
  exitCode: number;
  output: string;
  errors: string;
}

function start(words: string[], npm?: string): WatchedProcess {
  const path =
    npm === undefined ? process.env["PATH"] : [packageManager(npm), process.env["PATH"]].join(delimiter);
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    cwd: folder,
    env: { ...process.env, PATH: path, npm_config_user_agent: "npm/11.0.0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return watchProcess(child, "create-vocalhost");
}

async function create(words: string[], npm?: string): Promise<Made> {
  const { process: child } = start(words, npm);
  let [output, errors] = ["", ""];
  child.stdout?.on("data", (text: string) => (output += text));
  child.stderr?.on("data", (text: string) => (errors += text));
  const [exitCode] = (await within(once(child, "close"), SOON_MS, "end")) as [number];
  return { exitCode, output, errors };
}

/** A folder with an `npm` of our own in it. */
function packageManager(script: string): string {
  const place = mkdtempSync(join(folder, ".npm-"));
  writeFileSync(join(place, "npm"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(place, "npm"), 0o755);
  return place;
}

test("makes a project that runs and passes its own test", async () => {
  const { exitCode, output } = await create(["my-bot", "--yes", "--no-install"]);
  assert.equal(exitCode, 0);
  assert.match(output, /Created my-bot with a parrot bot.*cd my-bot.*npm install.*npm run dev/s);
  const path = join(folder, "my-bot");
  symlinkSync(join(REPOSITORY, "node_modules"), join(path, "node_modules")); // as if installed
  assert.equal((await check(path)).code, 0);
  const written = readFileSync(join(path, "bot.ts"), "utf8");
  writeFileSync(
    join(path, "bot.ts"),
    written.replace("createTransport(args)", "createTransport(args, { audioInn: {} })"),
  );
  assert.match((await check(path)).output, /audioInn.*Did you mean.*audioIn/);
  writeFileSync(join(path, "bot.ts"), written);
  {
    const bot = { path, bot: () => "", [Symbol.dispose]: () => undefined };
    await using dev = spawnDev(bot, ["--port", "0"]);
    await dev.printed(/Talk to it/);
  }
  const { code, output: report } = await runProgram("bot.test.ts", {
    workingFolder: path,
    environment: { NODE_OPTIONS: nodeFlags.join(" "), NODE_TEST_CONTEXT: "" },
    timeoutMs: SOON_MS,
  });
  assert.equal(code, 0, report);
  writeFileSync(join(path, "bot.ts"), written.replace(/bot\(args[^{]*\{/, '$& throw new Error("no key");'));
  const broken = await runProgram("bot.test.ts", {
    workingFolder: path,
    environment: { NODE_OPTIONS: nodeFlags.join(" "), NODE_TEST_CONTEXT: "" },
    timeoutMs: SOON_MS,
  });
  assert.equal(broken.code, 1);
  assert.match(broken.output, /The bot failed \d+ ms into the call/);
});

/** Runs the project's `check`. */
function check(path: string): ReturnType<typeof runProgram> {
  const sources = isBuilt ? [] : ["--customConditions", "@vocalhost/source"];
  return runProgram(join(REPOSITORY, "node_modules/typescript/bin/tsc"), {
    workingFolder: path,
    args: sources,
    timeoutMs: SOON_MS,
  });
}

test("installs, and says what to do next", async () => {
  const { exitCode, output } = await create(["installed", "--json"], 'echo "$@" > npm-was-asked');
  assert.equal(exitCode, 0);
  const { ok, isInstalled, next, files } = JSON.parse(output) as {
    ok: boolean;
    isInstalled: boolean;
    next: string[];
    files: string[];
  };
  assert.deepEqual([ok, isInstalled, next[0]], [true, true, "cd installed"]);
  assert.ok(!next.some((step) => step.includes("npm install")));
  assert.ok(files.includes("bot.ts") && files.includes("Dockerfile") && files.includes(".env.example"));
  assert.ok(existsSync(join(folder, "installed/npm-was-asked")));
});

test("an installation that fails leaves the project and says why", async () => {
  const { exitCode, output, errors } = await create(["offline"], "echo no network here >&2; exit 7");
  assert.equal(exitCode, 1);
  assert.match(errors, /could not be installed.*no network here/s);
  assert.match(output, /cd offline.*npm install/s);
  assert.ok(existsSync(join(folder, "offline/bot.ts")));
});

test("Ctrl-C in the middle of the installation leaves nothing behind", async () => {
  mkdirSync(join(folder, "was-there"));
  for (const name of ["half-made", "was-there", "deep/half-made"]) {
    const program = start([name], "echo $$ > pid; mkdir node_modules; sleep 600 & wait");
    await until(() => existsSync(join(folder, name, "node_modules")), SOON_MS, "installation");
    program.process.kill("SIGINT");
    const [exitCode] = (await within(once(program.process, "close"), SOON_MS, "end")) as [number];
    assert.equal(exitCode, 130);
    assert.match(program.output(), /Interrupted\. Nothing was left behind/);
  }
  assert.deepEqual(
    [
      existsSync(join(folder, "half-made")),
      existsSync(join(folder, "deep")),
      readdirSync(join(folder, "was-there")),
    ],
    [false, false, []],
  );
});

test("never writes over anything, and asks nothing without a terminal", async () => {
  mkdirSync(join(folder, "full"));
  writeFileSync(join(folder, "full/mine.txt"), "mine");
  const table: [string[], exitCode: number, RegExp][] = [
    [["full"], 1, /The folder full is not empty: it contains mine\.txt.*Choose another name/s],
    [["full", "--yes", "--json"], 1, /"ok":false,"problem":\{"code":"folder_in_the_way"/],
    [[], 2, /Which folder\?.*--yes/],
    [["a", "--template", "cat"], 2, /--template must be one of parrot, assistant, web, not "cat"/],
    [["--help"], 0, /npm create vocalhost my-bot/],
    [["--version"], 0, /^\d+\.\d+\.\d+\n$/],
  ];
  for (const [words, expected, text] of table) {
    const { exitCode, output, errors } = await create(words);
    assert.match(output + errors, text);
    assert.equal(exitCode, expected, words.join(" "));
  }
  assert.deepEqual(readdirSync(join(folder, "full")), ["mine.txt"]);
});
