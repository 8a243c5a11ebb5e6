// A service that is not root has no control groups, and bots may still not take all the memory there is.
import assert from "node:assert/strict";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startServiceProcess } from "../../harness/service-process.ts";
import { until } from "../../../testing/wait.ts";
import { ECHO_BOT, openCall } from "../hosted-calls.ts";

const UID = 65_533; // root becomes this one for the service; any other user is an ordinary one already
const ORDINARY =
  process.getuid?.() === 0 ? ["setpriv", `--reuid=${UID}`, `--regid=${UID}`, "--clear-groups"] : [];

/** Outside of the heap, which has a limit of its own. */
const GREEDY_BOT = {
  "bot.ts": `
export async function bot() {
  console.log("taking all there is");
  const kept = [];
  for (;;) {
    kept.push(Buffer.alloc(64 * 1024 * 1024, 1));
    await new Promise(setImmediate);
  }
}`,
};

test("of an ordinary user's service a bot that takes all memory is ended, and other calls go on", async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), "ordinary-user-"));
  if (ORDINARY.length > 0) chownSync(dataFolder, UID, UID);
  try {
    await using service = await startServiceProcess({
      dataFolder,
      within: ORDINARY,
      environment: { HOME: dataFolder, NODE_COMPILE_CACHE: "", VOCALHOST_COMPILE_CACHE: "" },
    });
    await service.printed(/bots and builds run as the service's own user .*VOCALHOST_DRIVER=container/);
    await service.printed(/no writable control groups: a bot that has more memory than its profile is ended/);
    const { processes } = await service.api.isolation();
    assert.deepEqual([processes?.users, processes?.memory], [null, "watch"]);
    await service.deploy({ name: "quiet", files: ECHO_BOT, autoScaling: { minAgents: 1 } });
    await service.deploy({ name: "greedy", files: GREEDY_BOT, autoScaling: { minAgents: 1 } });
    const quiet = await openCall(service, "quiet");
    const greedy = await openCall(service, "greedy");
    assert.equal(await service.sessionEnded(greedy.sessionId, 60_000), "instance-lost");
    const health = await until(
      async () => (await service.api.agents.get("greedy")).currentRevision?.health,
      20_000,
      "the agent's record",
    );
    assert.equal(health.lastTerminationReason, "OOMKilled", JSON.stringify(health));
    assert.match(health.message ?? "", /^It ran out of memory\.[\s\S]+taking all there is/);
    assert.match(service.output(), /"how":"It ran out of memory\."/);
    const [row] = service.rows<{ end_reason: string | null }>(
      "SELECT end_reason FROM sessions WHERE id = ?",
      quiet.sessionId,
    );
    assert.equal(row?.end_reason, null, "the other call goes on");
    quiet.socket.socket.close();
    assert.equal(await service.sessionEnded(quiet.sessionId), "client-left");
  } finally {
    rmSync(dataFolder, { recursive: true, force: true });
  }
});
