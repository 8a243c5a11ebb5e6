// As root, and with no setting at all, neither bots nor builds can read or change what is not theirs.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { startServiceProcess, type ServiceProcess } from "../../harness/service-process.ts";
import { until } from "../../../testing/wait.ts";
import { openCall } from "../hosted-calls.ts";

const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));
const WAITING_BOT = {
  "bot.ts": `export const bot = ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve));`,
};

/** Says who it is, and which of the targets named in a file it can read or change. */
const hostileBot = (targets: string) => ({
  "bot.ts": `
import { appendFileSync, closeSync, openSync, readdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
const works = (run) => { try { run(); return true; } catch { return false; } };
const opens = (flags) => (path) => works(() => closeSync(openSync(path, flags)));
export async function bot({ signal }) {
  const own = dirname(readlinkSync("/proc/self/fd/1")); // what it prints goes into its folder
  const { files, folders, programs, pids } = JSON.parse(readFileSync(${JSON.stringify(targets)}, "utf8"));
  const others = files.filter((path) => !path.startsWith(own));
  const found = {
    uid: process.getuid(),
    saw: [others.length, programs.length],
    ownIsReadable: works(() => readFileSync(join(process.cwd(), "bot.ts"))),
    read: others.filter((path) => !path.includes("/builds/")).filter(opens("r")),
    listed: folders.filter((path) => works(() => readdirSync(path))),
    written: [...others, ...programs, join(process.cwd(), "bot.ts")].filter(opens("r+")),
    made: [...folders, ...programs.map(dirname), process.cwd()].filter((path) =>
      works(() => writeFileSync(join(path, "mine"), "mine"))),
    processes: pids.flatMap((pid) => ["environ", "mem", "maps", "cwd/package.json"].map((name) => "/proc/" + pid + "/" + name))
      .filter(opens("r")),
    replaced: works(() => renameSync(join(own, "process.json"), join(own, "mine.json"))),
    killed: pids.filter((pid) => works(() => process.kill(pid, 0))),
  };
  console.log("found " + JSON.stringify(found));
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}`,
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) =>
    entry.isFile() || entry.isSocket() ? [join(entry.parentPath, entry.name)] : [],
  );
}

/** Everything of the service, of its program and of the other agent. */
function writeTargets(file: string, service: ServiceProcess): void {
  const { dataFolder } = service;
  const build = (name: string): string => join(dataFolder, "builds", name);
  const files = filesIn(dataFolder).filter((path) => !path.includes(`${sep}node_modules${sep}`));
  for (const name of ["master-keys", "vocalhost.db", "first-run.json", "controller.sock"])
    assert.ok(files.includes(join(dataFolder, name)), name);
  const targets = {
    files,
    folders: [
      dataFolder,
      ...["instances", "builds", "uploads", "compile-cache"].map((name) => join(dataFolder, name)),
    ],
    programs: [
      process.execPath,
      join(REPOSITORY, "package.json"),
      join(REPOSITORY, "packages/sdk/package.json"),
      join(REPOSITORY, "packages/control-plane/src/main/up-main.ts"),
      ...readdirSync(join(dataFolder, "builds")).map((name) =>
        join(build(name), "node_modules/.compile-cache/x"),
      ),
    ],
    pids: [service.pid("controller"), service.pid("gateway"), ...service.instancePids()],
  };
  writeFileSync(file, JSON.stringify(targets));
}

interface Found {
  uid: number;
  saw: number[];
  killed: number[];
  [what: string]: unknown;
}

test(
  "a bot reads and changes nothing but its own, in a data folder that only root could enter",
  { timeout: 240_000, skip: process.getuid?.() === 0 ? false : "only root can change users" },
  async () => {
    const home = mkdtempSync(join(tmpdir(), "own-users-"));
    try {
      const dataFolder = join(home, "closed", "data");
      mkdirSync(dataFolder, { recursive: true });
      for (const each of [join(home, "closed"), home]) chmodSync(each, 0o700);
      await using service = await startServiceProcess({
        dataFolder,
        environment: { VOCALHOST_BOT_UIDS: "" },
      });
      const [, first, last] = (await service.printed(/bots and builds run as users (\d+)-(\d+)/)).map(Number);
      assert.ok(first && last && last - first > 10_000);
      const targets = join(home, "targets.json");
      await service.deploy({ name: "other", files: WAITING_BOT, autoScaling: { minAgents: 1 } });
      await service.deploy({ name: "hostile", files: hostileBot(targets), autoScaling: { minAgents: 1 } });
      const other = await openCall(service, "other");
      writeTargets(targets, service);
      const { socket, sessionId } = await openCall(service, "hostile");
      const text = await until(
        async () => {
          const { logs } = await service.api.agents.logs("hostile", { sessionId, limit: 100 });
          return logs.find(({ log }) => log.startsWith("found "))?.log;
        },
        20_000,
        "what the bot found",
      );
      const { uid, saw, killed, ...found } = JSON.parse(text.slice("found ".length)) as Found;
      assert.ok(uid > first && uid <= last, String(uid));
      assert.ok(
        saw.every((count) => count > 4),
        saw.join(),
      );
      const nothing = { read: [], listed: [], written: [], made: [], replaced: false };
      const own = service.instancePids().filter((pid) => statSync(`/proc/${pid}`).uid === uid);
      assert.deepEqual(killed, own);
      assert.deepEqual(
        {
          ...found,
          processes: (found["processes"] as string[]).filter(
            (path) => !own.some((pid) => path.includes(`/${pid}/`)),
          ),
        },
        { ...nothing, ownIsReadable: true, processes: [] },
      );
      for (const call of [other.socket, socket]) call.socket.close();
      assert.equal(await service.sessionEnded(sessionId), "client-left");
      const builds = join(dataFolder, "builds");
      for (const name of readdirSync(builds)) assert.equal(statSync(join(builds, name, "bot.ts")).uid, 0);
      assert.equal(statSync(join(dataFolder, "builder-home")).uid, first);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
);
