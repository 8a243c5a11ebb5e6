import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { BOT_USER, commitBot, loadBotImage } from "../../testing/bot-image.ts";
import { startContainerEngine, type ContainerEngine } from "../../testing/container-engine.ts";
import { until, within } from "../../testing/wait.ts";
import { silentLog } from "../../packages/base/src/log.ts";
import {
  driverContract,
  exited,
  listening,
  specOf,
  type DriverHarness,
} from "../../packages/drivers/src/testing/driver-contract.ts";
import { startLateEngine } from "../../packages/drivers/src/testing/late-engine.ts";
import type { EngineLimits } from "../../packages/drivers/src/container/engine.ts";
import { openContainerDriver, serviceOf } from "../../packages/drivers/src/container.ts";
import {
  DriverUnavailableError,
  type InstanceSource,
  type OpenedDriver,
} from "../../packages/drivers/src/driver.ts";

let engine: ContainerEngine;
let base: string;

before(async () => {
  engine = await startContainerEngine();
  base = await loadBotImage(engine.docker);
});
after(() => engine[Symbol.asyncDispose]());

driverContract("container", start);

const WAITING_BOT = `export const bot = ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve));`;

test("the machine has an address in a network of which only the subnet was said", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  assert.match((await driver.host?.address()) ?? "", /^10\.2\d\d\.\d+\.1$/);
});

test("secrets are known to the bot, and not through the engine or its files", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  const spec = specOf(await harness.source(WAITING_BOT), { environment: { KEY: "hush-hush" } });
  await driver.create(spec);
  await listening(driver, spec.id);
  const [listed] = await engine.docker.listContainers({ all: true });
  const inspected = await engine.docker.getContainer(listed?.Id ?? "").inspect();
  const { Pid } = inspected.State;
  const told = [
    JSON.stringify(listed),
    JSON.stringify(inspected),
    readFileSync(`/proc/${Pid}/cmdline`, "utf8"),
    readFileSync(`/proc/${Pid}/environ`, "utf8"),
    ...filesIn(join(harness.folder, spec.id)).map((path) => readFileSync(path, "utf8")),
  ].join("\n");
  assert.match(told, new RegExp(spec.id));
  assert.doesNotMatch(told, new RegExp(`hush-hush|${spec.token}`));
  assert.equal(statSync(join(harness.folder, spec.id)).mode & 0o777, 0o700);
});

test("a bot in a container can change nothing but its own memory, and fills neither disk nor process table", async () => {
  await using harness = await start();
  const { driver, records } = await harness.open();
  const spec = specOf(await harness.source(HOSTILE_BOT));
  await driver.create(spec);
  const lines = await until(
    async () => {
      const printed = (await records.output(spec.id, 0)).lines.map(({ text }) => text);
      return printed.some((line) => line.startsWith("done")) && printed;
    },
    60_000,
    "report",
  );
  const seen = JSON.parse(lines.find((line) => line.startsWith("{")) ?? "{}") as Record<string, unknown>;
  assert.deepEqual(seen, {
    user: BOT_USER,
    capabilities: "0000000000000000",
    noNewPrivileges: "1",
    seccomp: "2",
    root: "EROFS",
    files: "EACCES",
    removed: "EACCES",
    temporary: "ENOSPC",
    slotGrows: "EFBIG",
    children: true,
  });
  const sharedFiles = join(harness.folder, spec.id, "slots");
  const bytes = readdirSync(sharedFiles).reduce(
    (sum, name) => sum + statSync(join(sharedFiles, name)).size,
    0,
  );
  assert.ok(bytes <= 2 * 64 * 1024 * 1024, `${bytes} bytes on the host`);
  assert.equal(await records.aliveRecord(spec.id), undefined);
});

// The bot fills one of the files completely; the output keeps its space.
const HOSTILE_BOT = `
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
const why = (work) => { try { work(); return "done"; } catch (error) { return error.code; } };
const status = readFileSync("/proc/self/status", "utf8");
const field = (name) => new RegExp(name + ":\\\\s*(\\\\S+)").exec(status)?.[1];
const block = Buffer.alloc(4 * 1024 * 1024, 1);
const fill = (path) => { for (let count = 0; count < 32; count += 1) appendFileSync(path, block); };
process.on("SIGXFSZ", () => {});
const started = [];
const failure = await new Promise((resolve) => {
  for (let count = 0; count < 400; count += 1)
    started.push(spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" }).on("error", resolve));
  setTimeout(resolve, 20_000, {});
});
for (const child of started) child.kill("SIGKILL");
console.log(JSON.stringify({
  user: process.getuid(),
  capabilities: field("CapEff"),
  noNewPrivileges: field("NoNewPrivs"),
  seccomp: field("Seccomp"),
  root: why(() => writeFileSync("/app/own", "")),
  files: why(() => writeFileSync("/run/vocalhost/own", "")),
  removed: why(() => rmSync("/run/vocalhost/output")),
  temporary: why(() => (why(() => fill("/tmp/one")), fill("/tmp/other"))),
  slotGrows: why(() => fill("/run/vocalhost/alive.json")),
  children: failure.code === "EAGAIN",
}));
console.log("done");
export async function bot() {}
`;

test("an engine that dies and comes back takes nothing with it", async () => {
  await using harness = await start();
  const { driver, records } = await harness.open();
  const spec = specOf(await harness.source(WAITING_BOT));
  await driver.create(spec);
  const { address } = await listening(driver, spec.id);
  await engine.kill();
  try {
    await assert.rejects(driver.list(), isUnavailable(/cannot be reached/));
    await assert.rejects(driver.create(specOf(spec.source)), isUnavailable(/cannot be reached/));
    assert.equal((await fetch(`http://${address}/instance`)).status, 401);
    assert.deepEqual((await records.output(spec.id, 0)).lines, []);
  } finally {
    await engine.start();
  }
  let changes = 0;
  driver.onChange(() => (changes += 1));
  assert.equal((await listening(driver, spec.id)).address, address);
  await until(() => changes > 0, 20_000, "events again");
  assert.equal((await driver.list()).length, 1);
  await driver.destroy(spec.id, { graceMs: 10_000 });
  assert.equal((await exited(driver)).exit?.code, 0);
});

test("an engine that hangs is told from one that is gone, and what it does late is found", async () => {
  await using harness = await start();
  const { driver } = await harness.open({ limits: { quickMs: 4_000, workMs: 4_000 } });
  const spec = specOf(await harness.source(WAITING_BOT));
  const making = specOf(spec.source);
  process.kill(engine.pid, "SIGSTOP");
  await until(() => isStopped(engine.pid), 10_000, "an engine that stands still"); // its threads stop one by one
  try {
    await assert.rejects(driver.list(), isUnavailable(/took more than 4 s to list containers/));
    await assert.rejects(driver.create(making), isUnavailable(/took more than/));
  } finally {
    process.kill(engine.pid, "SIGCONT");
  }
  const { driver: patient } = await harness.open();
  await patient.create(spec);
  await listening(patient, spec.id);
  assert.deepEqual(
    (await patient.list()).filter(({ id, state }) => id !== spec.id && state !== "exited"),
    [],
  );
});

function isStopped(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) =>
    /\) T /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8")),
  );
}

test("a container that was removed from outside is over, and says so", async () => {
  await using harness = await start();
  const { driver, records } = await harness.open();
  const spec = specOf(await harness.source(`console.log("here"); ${WAITING_BOT}`));
  await driver.create(spec);
  await listening(driver, spec.id);
  const [listed] = await engine.docker.listContainers();
  await engine.docker.getContainer(listed?.Id ?? "").remove({ force: true });
  const { exit } = await exited(driver);
  assert.match(exit?.lastOutput ?? "", /^here\n\[the container was removed from the engine\]$/);
  assert.equal((await records.output(spec.id, 0)).lines[0]?.text, "here");
  await driver.forget(spec.id);
  assert.deepEqual(await driver.list(), []);
});

test("a container made while the engine was slow to list is not taken for a removed one", async () => {
  await using harness = await start();
  await using late = await startLateEngine(engine.socket);
  const { driver } = await harness.open({ socket: late.socket });
  const spec = specOf(await harness.source(WAITING_BOT));
  const question = late.hold("question", "/containers/create");
  const created = driver.create(spec);
  await within(question.arrived, 20_000, "folder without a container");
  const answer = late.hold("answer", "/containers/json");
  const listed = driver.list();
  await within(answer.arrived, 20_000, "list without the container");
  question.release();
  await created;
  answer.release();
  assert.deepEqual(
    (await listed).filter(({ state }) => state !== "running"),
    [],
  );
  await listening(driver, spec.id);
});

test("an instance gets no session while it has the processor time it had for loading", async () => {
  await using harness = await start();
  await using late = await startLateEngine(engine.socket);
  const { driver } = await harness.open({ socket: late.socket });
  const spec = specOf(await harness.source(WAITING_BOT), { cpuMillicores: 300, memoryMib: 512 });
  const limit = late.hold("question", "/update");
  await driver.create(spec);
  await listening(driver, spec.id);
  await within(limit.arrived, 20_000, "limit");
  const [listed] = await engine.docker.listContainers();
  const { Pid } = (await engine.docker.getContainer(listed?.Id ?? "").inspect()).State;
  assert.deepEqual(limitsOf(Pid), { coresPercent: 200, memoryMib: 512, processes: 256 });
  const order: string[] = [];
  const woken = driver.wake?.(spec.id).then(() => order.push("may have a session"));
  await driver.list();
  order.push("limited");
  limit.release();
  await woken;
  assert.deepEqual(order, ["limited", "may have a session"]);
  assert.deepEqual(limitsOf(Pid), { coresPercent: 30, memoryMib: 512, processes: 256 });
});

/** Returns the limits of the control group a process is in, of either version. */
function limitsOf(pid: number): { coresPercent: number; memoryMib: number; processes: number } {
  const groups = readFileSync(`/proc/${pid}/cgroup`, "utf8").trim().split("\n");
  const read = (controller: string, ...files: string[]): string => {
    for (const group of groups) {
      const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(group) ?? [];
      const mounts = ["/sys/fs/cgroup", `/sys/fs/cgroup/${controller}`, "/sys/fs/cgroup/unified"];
      if (controllers !== "" && !controllers.split(",").includes(controller)) continue;
      for (const mount of mounts)
        for (const file of files)
          if (existsSync(join(mount, path, file)))
            return readFileSync(join(mount, path, file), "utf8").trim();
    }
    throw new Error(`No limit of ${controller} in ${groups.join(" ")}`);
  };
  const [quota, period = "100000"] = read("cpu", "cpu.max", "cpu.cfs_quota_us").split(" ");
  return {
    coresPercent: (Number(quota) * 100) / Number(period),
    memoryMib: Number(read("memory", "memory.max", "memory.limit_in_bytes")) / 1024 ** 2,
    processes: Number(read("pids", "pids.max")),
  };
}

test("a controller killed while it made an instance wedges nothing", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  const source = await harness.source(WAITING_BOT);
  const [onlyFolder, neverStarted] = [specOf(source), specOf(source)];
  mkdirSync(join(harness.folder, onlyFolder.id));
  await engine.docker.createContainer({
    Image: source.reference,
    name: `vocalhost-${harness.service}-${neverStarted.id}`,
    Labels: {
      "io.github.vocalhost.service": harness.service,
      "io.github.vocalhost.instance": neverStarted.id,
    },
  });
  assert.deepEqual(
    new Map((await driver.list()).map(({ id, state }) => [id, state])),
    new Map([onlyFolder, neverStarted].map(({ id }) => [id, "exited"])),
  );
  await driver.create(onlyFolder);
  await listening(driver, onlyFolder.id);
  await driver.destroy(neverStarted.id, { graceMs: 0 });
  await driver.forget(neverStarted.id);
  await driver.create(neverStarted);
  await listening(driver, neverStarted.id);
});

test("what cannot be made says why, and leaves nothing", async () => {
  await using harness = await start();
  const { driver } = await harness.open();
  const missing = specOf({ kind: "image", reference: "localhost/no/such:image", pullSecret: undefined });
  await assert.rejects(driver.create(missing), /no such image|image not known|No such image/i);
  await assert.rejects(driver.create(specOf({ kind: "build", folder: "/" })), /Containers run images/);
  await assert.rejects(driver.create({ ...missing, id: "../escape" }), /Not an instance id/);
  assert.deepEqual(await driver.list(), []);
  assert.deepEqual(readdirSync(harness.folder), []);
});

interface ContainerHarness extends DriverHarness {
  folder: string;
  /** How the driver calls what is its own. */
  service: string;
  open(options?: { limits?: EngineLimits; socket?: string }): Promise<OpenedDriver>;
  source(bot: string): Promise<InstanceSource & { kind: "image" }>;
}

async function start(): Promise<ContainerHarness> {
  const temporary = mkdtempSync(join(tmpdir(), "container-driver-"));
  const folder = join(temporary, "instances");
  const opened = new AsyncDisposableStack();
  const open: ContainerHarness["open"] = async ({ limits, socket = engine.socket } = {}) =>
    opened.use(
      await openContainerDriver({ folder, socket, network: engine.network, log: silentLog, limits }),
    );
  return {
    folder,
    service: serviceOf(folder),
    open,
    tellsStarvation: false,
    async source(bot) {
      return { kind: "image", reference: await commitBot(engine.docker, base, bot), pullSecret: undefined };
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

function isUnavailable(text: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof DriverUnavailableError && text.test(error.message);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}
