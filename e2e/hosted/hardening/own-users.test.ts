// With users of their own, neither bots nor builds can read what the service keeps.
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startServiceProcess } from "../../harness/service-process.ts";
import { until } from "../../../testing/wait.ts";
import { openCall } from "../hosted-calls.ts";

const FIRST = 200_000;

/** Says who it is, and what of all that is not its own it can read or change. */
const CURIOUS_BOT = {
  "bot.ts": `
import { appendFileSync, readdirSync, readFileSync, readlinkSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
const works = (run) => { try { run(); return true; } catch { return false; } };
export async function bot({ signal }) {
  const own = dirname(readlinkSync("/proc/self/fd/1")); // what it prints goes into its folder
  const data = join(own, "../..");
  const kept = ["master-keys", "vocalhost.db", "first-run.json", "controller.sock"];
  const others = readdirSync("/proc").filter((pid) => /^\\d+$/.test(pid) && Number(pid) !== process.pid);
  const found = {
    uid: process.getuid(),
    kept: kept.filter((name) => works(() => readFileSync(join(data, name)))),
    listed: [data, join(own, ".."), join(data, "builds")].filter((folder) => works(() => readdirSync(folder))),
    environments: others.filter((pid) => works(() => readFileSync("/proc/" + pid + "/environ"))).length,
    changed: [
      works(() => renameSync(join(own, "process.json"), join(own, "mine.json"))),
      works(() => appendFileSync(join(process.cwd(), "bot.ts"), "// mine")),
    ],
  };
  console.log("found " + JSON.stringify(found));
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}`,
};

interface Found {
  uid: number;
  kept: string[];
  listed: string[];
  environments: number;
  changed: boolean[];
}

test(
  "a bot reads nothing but its own",
  { timeout: 240_000, skip: process.getuid?.() === 0 ? false : "only root can change users" },
  async () => {
    await using service = await startServiceProcess({
      environment: { VOCALHOST_BOT_UIDS: `${FIRST}-${FIRST + 1_000}`, VOCALHOST_COMPILE_CACHE: "" },
    });
    await service.deploy({ name: "curious", files: CURIOUS_BOT, autoScaling: { minAgents: 2 } });
    const { socket, sessionId } = await openCall(service, "curious");
    const text = await until(
      async () => {
        const { logs } = await service.api.agents.logs("curious", { sessionId, limit: 100 });
        return logs.find(({ log }) => log.startsWith("found "))?.log;
      },
      20_000,
      "what the bot found",
    );
    const { uid, ...found } = JSON.parse(text.slice("found ".length)) as Found;
    assert.ok(uid > FIRST && uid <= FIRST + 1_000, String(uid));
    assert.deepEqual(found, { kept: [], listed: [], environments: 0, changed: [false, false] });
    socket.socket.close();
    assert.equal(await service.sessionEnded(sessionId), "client-left");
    const builds = join(service.dataFolder, "builds");
    for (const name of readdirSync(builds)) assert.equal(statSync(join(builds, name, "bot.ts")).uid, 0);
    assert.equal(statSync(join(service.dataFolder, "builder-home")).uid, FIRST);
  },
);
