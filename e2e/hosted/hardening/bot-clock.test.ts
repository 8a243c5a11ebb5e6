// A bot tells how long its session lasted, and is not believed against what was seen.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServiceProcess } from "../../harness/service-process.ts";
import { pause } from "../../../testing/wait.ts";
import { ECHO_BOT, openCall } from "../hosted-calls.ts";

const CALL_MS = 8_000;

test("a bot that stops its clock is billed what was seen", { timeout: 180_000 }, async () => {
  await using service = await startServiceProcess({ timing: { reconcileMs: 200 } });
  const bot = `const still = performance.now();\nperformance.now = () => still;\n${ECHO_BOT["bot.ts"]}`;
  await service.deploy({ name: "liar", files: { "bot.ts": bot } });
  const { sessionId, socket } = await openCall(service, "liar");
  await pause(CALL_MS);
  socket.socket.close();
  await service.sessionEnded(sessionId);
  const [row] = service.rows<Record<"seconds" | "elapsed_ms" | "length_correction_ms", number>>(
    "SELECT seconds, elapsed_ms, length_correction_ms FROM sessions WHERE id = ?",
    sessionId,
  );
  assert.ok(row && row.seconds >= CALL_MS / 1000 - 4, JSON.stringify(row)); // being seen proves 3 s less
  assert.ok(row.length_correction_ms > 1_000, JSON.stringify(row));
  await service.printed(/bot told another length of its session than was seen/);
});
