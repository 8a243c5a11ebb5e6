// A bot may set the wall clock of its process. Its times must neither keep its session open nor break
// lists of sessions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServiceProcess } from "../../harness/service-process.ts";
import { size } from "../../../testing/sizes.ts";
import { pause } from "../../../testing/wait.ts";
import { ECHO_BOT, openCall } from "../hosted-calls.ts";

const CALL_MS = 3_000;
const APART_MS = 2_000; // between two clocks of this machine, asked one after the other

const clocks = [
  { name: "fraction", now: "1763500000000.5" },
  { name: "far", now: "9e15" },
  { name: "frozen", now: "0" },
  { name: "none", now: "Number.NaN" },
];

test("a bot that bends its wall clock ends at the service's", { timeout: 300_000 }, async (t) => {
  await using service = await startServiceProcess({ timing: { reconcileMs: 200 } });
  for (const { name, now } of clocks.slice(0, size(1, clocks.length)))
    await t.test(name, async () => {
      const bot = `Date.now = () => ${now};\n${ECHO_BOT["bot.ts"]}`;
      await service.deploy({ name, files: { "bot.ts": bot } });
      const startedAt = Date.now();
      const { sessionId, socket } = await openCall(service, name);
      await pause(CALL_MS);
      socket.socket.close();
      assert.equal(await service.sessionEnded(sessionId), "client-left");
      const over = Date.now();

      const [row] = service.rows<Record<"bound_at" | "ended_at" | "seconds", number>>(
        "SELECT bound_at, ended_at, seconds FROM sessions WHERE id = ?",
        sessionId,
      );
      assert.ok(row && Number.isInteger(row.ended_at), JSON.stringify(row));
      assert.ok(row.ended_at >= row.bound_at && row.bound_at >= startedAt - APART_MS, JSON.stringify(row));
      assert.ok(row.ended_at <= over + APART_MS, JSON.stringify(row));
      const lastedMs = over - startedAt;
      assert.ok(row.seconds >= 2 && row.seconds <= lastedMs / 1_000 + 1, JSON.stringify(row));

      const { sessions } = await service.api.sessions.list(name);
      assert.equal(sessions[0]?.sessionId, sessionId);
      assert.equal(sessions[0].endedAt, new Date(row.ended_at).toISOString());
      assert.equal((await service.api.sessions.get(name, sessionId)).status, "ended");
      assert.equal((await service.api.agents.get(name)).ready, true);
    });
});
