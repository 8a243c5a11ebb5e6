import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import type { Writable } from "node:stream";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog } from "@vocalhost/base/log";
import { openWays } from "./process/own-users.ts";
import { writeBotProject } from "./testing/bot-project.ts";
import { driverContract, exited, listening, specOf, type DriverHarness } from "./testing/driver-contract.ts";
import type { InstanceSource, OpenedDriver } from "./driver.ts";
import { compileCache } from "../../../testing/compiled-code.ts";
import { until } from "../../../testing/wait.ts";
import { LOADING_SHARE } from "./loading.ts";
import { openProcessDriver, type ProcessDriverOptions } from "./process.ts";
import { findTree, groupIn } from "./process/cgroup-tree.ts";
import { identityOf, isRunning, isThere, type ProcessIdentity } from "./local/process-identity.ts";

driverContract("process", start);

const WAITING_BOT = `export const bot = ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve));`;

test("secrets are in the environment of the process only", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  const spec = specOf(await harness.source(WAITING_BOT), { environment: { KEY: "hush-hush" } });
  await driver.create(spec);
  await listening(driver, spec.id);
  const folder = join(harness.folder, spec.id);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), "utf8");
    assert.doesNotMatch(text, new RegExp(`hush-hush|${spec.token}`), name);
  }
  const { pid } = JSON.parse(readFileSync(join(folder, "process.json"), "utf8")) as { pid: number };
  assert.doesNotMatch(readFileSync(`/proc/${pid}/cmdline`, "utf8"), /hush-hush/);
});

test("what a bot has written in the place of its address is believed only if it is one", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  const spec = specOf(await harness.source(`await new Promise(() => setInterval(() => undefined, 1e6));`));
  await driver.create(spec);
  for (const odd of [
    "127.0.0.1:80\0",
    "\0",
    "somewhere:80",
    "127.0.0.1:",
    "127.0.0.1:99999",
    "127.0.0.1:80\n",
    "",
  ]) {
    writeFileSync(join(harness.folder, spec.id, "address"), odd);
    const [seen] = await driver.list();
    assert.deepEqual([seen?.state, seen?.address], ["running", undefined], JSON.stringify(odd));
  }
  writeFileSync(join(harness.folder, spec.id, "address"), "[::1]:80");
  assert.equal((await driver.list())[0]?.address, "[::1]:80");
});

test("a controller killed while it made an instance wedges nothing", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  const spec = specOf(await harness.source(WAITING_BOT));
  mkdirSync(join(harness.folder, spec.id));
  const [seen] = await driver.list();
  assert.deepEqual([seen?.id, seen?.state], [spec.id, "exited"]);
  await driver.create(spec);
  await listening(driver, spec.id);
});

test(
  "what a bot has put in the place of its files keeps nobody from anything",
  { timeout: 60_000 },
  async () => {
    const places: [string, (path: string, folder: string) => void][] = [
      ["a folder", (path) => mkdirSync(path)],
      ["a link", (path, folder) => symlinkSync(join(folder, "../../hush"), path)],
      ["a pipe", (path) => void spawnSync("mkfifo", [path])],
    ];
    await using harness = await start();
    const { driver, records } = await harness.open();
    writeFileSync(join(harness.folder, "../hush"), "hush-hush\n".repeat(100));
    for (const [, make] of places)
      for (const name of [
        "output",
        "output-base.json",
        "exited.json",
        "process.json",
        "exit-s.json",
        "alive.json",
      ]) {
        const id = randomUUID();
        const folder = join(harness.folder, id);
        mkdirSync(folder);
        make(join(folder, name), folder);
        make(join(folder, `${name}.tmp`), folder);
      }
    const seen = await driver.list();
    assert.equal(seen.length, 18);
    for (const { id, state } of seen) {
      assert.equal(state, "exited");
      assert.deepEqual((await records.output(id, 0)).lines, []);
      await records.exitRecord(id, "s");
      await records.aliveRecord(id);
      await records.remove(id);
      await driver.forget(id);
    }
    assert.deepEqual(await driver.list(), []);
    assert.match(readFileSync(join(harness.folder, "../hush"), "utf8"), /^hush-hush/);
  },
);

test("a process whose number was not written down is found", async () => {
  await using harness = await start();
  const spec = specOf(await harness.source(WAITING_BOT));
  const { driver: first } = await harness.open();
  await first.create(spec);
  await listening(first, spec.id);
  const folder = join(harness.folder, spec.id);
  rmSync(join(folder, "process.json"));
  writeFileSync(
    join(folder, "maker.json"),
    JSON.stringify({ pid: 1, startedTicks: "-1", bootId: "another" }),
  );
  const { driver: second } = await harness.open();
  assert.equal((await second.list())[0]?.state, "running");
  await second.destroy(spec.id, { graceMs: 5_000 });
  assert.equal((await second.list())[0]?.state, "exited");
});

test("another process with the same number is not taken for the instance", async () => {
  await using harness = await start();
  const spec = specOf(await harness.source(WAITING_BOT));
  const { driver: first } = await harness.open();
  await first.create(spec);
  await listening(first, spec.id);
  await first.destroy(spec.id, { graceMs: 5_000 });
  const stranger = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true });
  try {
    const file = join(harness.folder, spec.id, "process.json");
    const written = JSON.parse(readFileSync(file, "utf8")) as object;
    writeFileSync(file, JSON.stringify({ ...written, pid: stranger.pid }));
    const { driver: second } = await harness.open();
    assert.equal((await second.list())[0]?.state, "exited");
    await second.destroy(spec.id, { graceMs: 0 });
    await second.forget(spec.id);
    assert.ok(isRunning(identityOf(stranger.pid ?? 0)));
  } finally {
    stranger.kill("SIGKILL");
  }
});

test("a process that has ended and was not collected is over", async () => {
  // The shell becomes a program that never asks after its child, and only then the child ends.
  const parent = spawn("sh", ["-c", "cat <&3 & echo $!; exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  });
  try {
    const [text] = (await once(parent.stdout!, "data")) as [Buffer];
    const pid = Number(String(text).trim());
    const name = `/proc/${parent.pid}/comm`;
    await until(() => readFileSync(name, "utf8").trim() === "sleep", 20_000, "sleeping parent");
    (parent.stdio[3] as Writable).end();
    await until(() => /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8")), 20_000, "zombie");
    assert.ok(isThere(pid));
    assert.equal(isRunning(identityOf(pid)), false);
  } finally {
    parent.kill("SIGKILL");
  }
});

const groupsHere = await findTree(`vocalhost-test-${randomUUID().slice(0, 8)}`);
const hasShares = groupsHere?.controllers.includes("cpu") ?? false;
const SLOW_BOT = `await new Promise((resolve) => setTimeout(resolve, 60_000)); ${WAITING_BOT}`;

test(
  "one that nobody waits for loads behind the others, until somebody does or it listens",
  { skip: !hasShares },
  async () => {
    await using harness = await start();
    const { driver } = await harness.open();
    const awaited = specOf(await harness.source(SLOW_BOT), { isAwaited: true });
    const [reserved, ready] = [
      specOf(await harness.source(SLOW_BOT)),
      specOf(await harness.source(WAITING_BOT)),
    ];
    for (const spec of [awaited, reserved, ready]) await driver.create(spec);
    assert.deepEqual([shareOf(harness, awaited.id), shareOf(harness, reserved.id)], [1, LOADING_SHARE]);
    driver.inUse?.(new Set([reserved.id]));
    await until(() => shareOf(harness, reserved.id) === 1, 20_000, "share of one that a session waits for");
    await listening(driver, ready.id);
    assert.equal(shareOf(harness, ready.id), 1);
  },
);

test(
  "nothing loads behind the others for long, nor after its controller has gone",
  { skip: !hasShares },
  async () => {
    await using harness = await start();
    const [long, left] = [specOf(await harness.source(SLOW_BOT)), specOf(await harness.source(SLOW_BOT))];
    const { driver } = await harness.open({ loadingBehindMs: 200 });
    await driver.create(long);
    await until(() => shareOf(harness, long.id) === 1, 20_000, "share of one that takes long");
    const { driver: other } = await harness.open();
    await other.create(left);
    assert.equal(shareOf(harness, left.id), LOADING_SHARE);
    await harness.open();
    assert.equal(shareOf(harness, left.id), 1);
  },
);

/** Beside other instances, as the kernel has it. */
function shareOf({ folder }: ProcessHarness, id: string): number {
  const { pid } = JSON.parse(readFileSync(join(folder, id, "process.json"), "utf8")) as { pid: number };
  const group = groupIn(textOf("/proc/self/mountinfo"), textOf(`/proc/${pid}/cgroup`)) ?? "";
  assert.ok(group.endsWith(id), `${id} is in ${group}`);
  return Number(textOf(join(group, "cpu.weight"))) / 100;
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

test("a bot's file may have any name", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  const source = await harness.source(`throw new Error("not this one");`);
  mkdirSync(join(source.folder, "src"));
  writeFileSync(join(source.folder, "src/other.ts"), WAITING_BOT);
  const spec = specOf({ ...source, botFile: "src/other.ts" });
  await driver.create(spec);
  await listening(driver, spec.id);
});

test("what a bot started ends with it", async () => {
  await using harness = await start();
  const { driver, records } = await harness.open();
  const bot = `
    import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
    console.log("child " + spawn("sleep", ["300"], { stdio: "ignore" }).pid);
    ${WAITING_BOT}
  `;
  const spec = specOf(await harness.source(bot));
  await driver.create(spec);
  await listening(driver, spec.id);
  const { lines } = await records.output(spec.id, 0);
  const child = identityOf(Number(/child (\d+)/.exec(lines[0]?.text ?? "")?.[1]));
  assert.ok(isRunning(child));
  await driver.destroy(spec.id, { graceMs: 5_000 });
  await until(() => !isRunning(child), 20_000, "end of the child");
});

/** As an orphan, as soon as the shell has ended. */
const IN_A_SESSION_OF_ITS_OWN = "env -i setsid sleep 300 </dev/null >/dev/null 2>&1";
const IN_A_GROUP_OF_ITS_OWN = `exec env -i perl -e 'setpgrp(0, 0); exec("sleep", "300")' >/dev/null 2>&1 </dev/null`;
const IN_ITS_PROCESS_GROUP = "exec env -i sleep 300 >/dev/null 2>&1 </dev/null";

/** Prints the number of a child that has left it, and waits. */
function leavingBot(command: string): string {
  return `
    import { readFileSync, readlinkSync } from "node:fs";
    import { spawnSync } from "node:child_process";
    import { dirname } from "node:path";
    const env = { ...process.env, FOLDER: dirname(readlinkSync("/proc/self/fd/1")) };
    const shell = ${JSON.stringify(`(${command}) 3>&- & echo $! >&3`)};
    const { output } = spawnSync("sh", ["-c", shell], { env, stdio: ["ignore", "inherit", "inherit", "pipe"] });
    const pid = String(output[3]).trim();
    const isSleeping = () => readFileSync("/proc/" + pid + "/comm", "utf8").trim() === "sleep";
    while (!isSleeping()) await new Promise((resolve) => setTimeout(resolve, 20));
    console.log("child " + pid);
    ${WAITING_BOT}
  `;
}

async function childOf({ records }: Pick<OpenedDriver, "records">, id: string): Promise<ProcessIdentity> {
  const pid = await until(
    async () => {
      const { lines } = await records.output(id, 0);
      return /child (\d+)/.exec(lines.map(({ text }) => text).join("\n"))?.[1];
    },
    20_000,
    "number of the child",
  );
  return identityOf(Number(pid));
}

const LEAVERS = [
  ["with control groups, what left a bot", IN_A_SESSION_OF_ITS_OWN, true],
  ["with control groups, what is in a process group of its own after a bot", IN_A_GROUP_OF_ITS_OWN, true],
  ["without control groups, the process group of a bot", IN_ITS_PROCESS_GROUP, false],
] as const;

for (const [what, command, usesCgroups] of LEAVERS)
  for (const how of ["stopped", "crashed"])
    test(`${what} that is ${how} ends too`, { skip: usesCgroups && !groupsHere }, async () => {
      await using harness = await start();
      const told: string[] = [];
      const log = { ...silentLog, warn: (_fields: object, sentence: string) => void told.push(sentence) };
      const { driver, records } = await harness.open({ log, usesCgroups });
      if (!usesCgroups)
        assert.match(
          told.join(),
          /^no writable control groups.*only found by its process group: what leaves that outlives/,
        );
      const spec = specOf(await harness.source(leavingBot(command)));
      await driver.create(spec);
      await listening(driver, spec.id);
      const child = await childOf({ records }, spec.id);
      assert.ok(isRunning(child));
      if (how === "crashed") {
        const program = readFileSync(join(harness.folder, spec.id, "process.json"), "utf8");
        process.kill((JSON.parse(program) as { pid: number }).pid, "SIGKILL");
        await exited(driver);
        await driver.forget(spec.id);
      } else await driver.destroy(spec.id, { graceMs: 5_000 });
      await until(() => !isRunning(child), 20_000, "end of the child");
    });

const USERS = { first: 300_000, last: 300_100 };
const isRoot = process.getuid?.() === 0;

for (const how of ["stopped", "crashed", "crashed, its number lost"])
  test(`of a bot that is ${how} and ran as a user of its own nothing stays`, { skip: !isRoot }, async () => {
    await using harness = await start();
    openWays([join(harness.folder, ".."), harness.folder]);
    const told: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, sentence: string) => void told.push(sentence) };
    const { driver, records } = await harness.open({
      log,
      usesCgroups: false,
      users: USERS,
      compileCache: undefined,
    });
    assert.match(told.join(), /^no writable control groups.*found by its user/);
    const bot = leavingBot(IN_A_SESSION_OF_ITS_OWN);
    const [spec, other] = [specOf(await harness.source(bot)), specOf(await harness.source(bot))];
    for (const each of [spec, other]) {
      await driver.create(each);
      await until(
        async () => (await driver.list()).find(({ id }) => id === each.id)?.address,
        20_000,
        "address",
      );
    }
    const [child, stranger] = [await childOf({ records }, spec.id), await childOf({ records }, other.id)];
    assert.ok(isRunning(child) && isRunning(stranger));
    if (how === "stopped") await driver.destroy(spec.id, { graceMs: 5_000 });
    else {
      const file = join(harness.folder, spec.id, "process.json");
      const program = JSON.parse(readFileSync(file, "utf8")) as { pid: number };
      process.kill(program.pid, "SIGKILL");
      await until(() => !isThere(program.pid), 20_000, "end of the bot");
      if (how !== "crashed")
        for (const name of ["process.json", "maker.json"]) rmSync(join(file, "..", name));
      const { driver: next } =
        how === "crashed"
          ? { driver }
          : await harness.open({ usesCgroups: false, users: USERS, compileCache: undefined });
      await next.forget(spec.id);
    }
    assert.ok(!isRunning(child));
    assert.ok(isRunning(stranger), "another instance's");
  });

test("drivers that share users give each to one instance only", { skip: !isRoot }, async () => {
  await using one = await start();
  await using other = await start();
  const users = { first: USERS.first, last: USERS.first + 17 }; // two instances
  const open = async (harness: ProcessHarness, neighbour: ProcessHarness) =>
    harness.open({ users, usersAlsoIn: [neighbour.folder], compileCache: undefined });
  const [{ driver }, { driver: next }] = [await open(one, other), await open(other, one)];
  const specs = [];
  for (const [harness, each] of [
    [one, driver],
    [other, next],
  ] as const) {
    openWays([join(harness.folder, ".."), harness.folder]);
    const spec = specOf(await harness.source(WAITING_BOT));
    await each.create(spec);
    specs.push(join(harness.folder, spec.id));
  }
  const [first, second] = specs.map((folder) => statSync(folder).gid);
  assert.notEqual(first, second);
  await assert.rejects(
    driver.create(specOf(await one.source(WAITING_BOT))),
    /All 2 users for instances are in use/,
  );
});

test("instances go on when the controller is gone, with their output", async () => {
  await using harness = await start();
  const spec = specOf(await harness.source(`setInterval(() => console.log("tick"), 50); ${WAITING_BOT}`));
  const program = `
    import { openProcessDriver } from ${JSON.stringify(new URL("./process.ts", import.meta.url).href)};
    const log = { debug() {}, info() {}, warn() {}, error() {}, child() { return log; } };
    const { driver } = await openProcessDriver({ folder: ${JSON.stringify(harness.folder)}, log });
    await driver.create(${JSON.stringify(spec)});
    process.kill(process.pid, "SIGKILL");
  `;
  const controller = spawn(
    process.execPath,
    [...process.execArgv.filter((flag) => /condition/.test(flag)), "--input-type=module", "-e", program],
    {
      stdio: "ignore",
    },
  );
  assert.deepEqual(await once(controller, "exit"), [null, "SIGKILL"]);
  const { driver, records } = await harness.open();
  await listening(driver, spec.id);
  await until(async () => (await records.output(spec.id, 0)).lines.length > 5, 20_000, "ticks");
  await driver.destroy(spec.id, { graceMs: 5_000 });
  const { exit } = await exited(driver);
  assert.deepEqual([exit?.code, exit?.signal], [null, null]);
});

test("a bot without the SDK, or without a folder, is refused with the reason", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  const empty = specOf({ kind: "build", folder: tmpdir() });
  await assert.rejects(driver.create(empty), /does not hold the package "vocalhost"/);
  await assert.rejects(driver.create({ ...empty, id: "../escape" }), /Not an instance id/);
  const image = specOf({ kind: "image", reference: "acme/bot:1", pullSecret: undefined });
  await assert.rejects(driver.create(image), /Processes run builds; the image 'acme\/bot:1' is none/);
  assert.deepEqual(await driver.list(), []);
  const broken = await openProcessDriver({
    folder: harness.folder,
    log: silentLog,
    execPath: "/no/such/node",
  });
  await assert.rejects(
    broken.driver.create(specOf(await harness.source(WAITING_BOT))),
    /could not be started/,
  );
  assert.deepEqual(await driver.list(), []);
});

interface ProcessHarness extends DriverHarness {
  folder: string;
  open(options?: Partial<ProcessDriverOptions>): ReturnType<DriverHarness["open"]>;
  source(bot: string): Promise<InstanceSource & { kind: "build" }>;
}

async function start(): Promise<ProcessHarness> {
  const temporary = mkdtempSync(join(tmpdir(), "process-driver-"));
  const folder = join(temporary, "instances");
  const opened = new AsyncDisposableStack();
  const open: ProcessHarness["open"] = async (options = {}) =>
    opened.use(await openProcessDriver({ folder, compileCache, log: silentLog, ...options }));
  let projects = 0;
  return {
    folder,
    open,
    async source(bot) {
      projects += 1;
      return { kind: "build", folder: writeBotProject(join(temporary, `project-${projects}`), bot) };
    },
    async [Symbol.asyncDispose]() {
      const { driver } = await open();
      await driver.fence(1e9);
      for (const { id } of await driver.list()) {
        await driver.destroy(id, { graceMs: 0 });
        await driver.forget(id);
      }
      await opened.disposeAsync();
      rmSync(temporary, { recursive: true, force: true });
    },
  };
}
