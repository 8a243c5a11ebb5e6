// A bot that prints until the disk is full takes nothing from other agents, and can be stopped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServiceProcess } from "../../harness/service-process.ts";
import { mountIsMissing, mountSmallDisk } from "../../../testing/small-disk.ts";
import { until } from "../../../testing/wait.ts";
import { ECHO_BOT, openCall, start } from "../hosted-calls.ts";

const PRINTING_BOT = `
import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
const text = Buffer.alloc(1024 * 1024, "noise\\n");
export async function bot({ signal }) {
  while (!signal.aborted) {
    try { writeSync(1, text); } catch {}
    await pause(50);
  }
}`;

test("a printing bot on a full disk", { skip: mountIsMissing(), timeout: 180_000 }, async () => {
  using disk = mountSmallDisk("96m");
  await using service = await startServiceProcess({ dataFolder: disk.folder });
  await service.deploy({ name: "echo", files: ECHO_BOT, autoScaling: { minAgents: 1, maxAgents: 4 } });
  await service.deploy({ name: "printer", files: { "bot.ts": PRINTING_BOT } });
  const controller = service.pid("controller");
  const { sessionId } = await openCall(service, "printer");
  await service.printed(/disk is full, output of instances dropped/);
  await until(async () => (await start(service, "echo")).status === 200, 15_000, "start while it prints");
  await service.api.sessions.stop("printer", sessionId);
  await service.sessionEnded(sessionId);
  await service.api.agents.delete("printer");
  assert.equal(service.pid("controller"), controller, "no process had to be started again");
});
