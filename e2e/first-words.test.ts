import assert from "node:assert/strict";
import { after, test } from "node:test";
import { callBot, freePeerClients } from "./harness/peer-client.ts";
import { startRunnerProcess } from "./harness/runner-process.ts";

after(freePeerClients);

test("what a bot says before its connection is up is heard, all of it, and then the session ends", async () => {
  await using runner = await startRunnerProcess({ bot: "e2e/bots/greeting-bot.ts" });
  using client = await callBot({ port: runner.port });
  await client.left(8_000); // sooner than a session gives up on unheard words
  const { voiced } = client.heard;
  assert.ok(voiced >= 48, `${voiced} packets of 50`);
  const [, reason] = await runner.printed(/session ended .*reason=(\S+)/);
  assert.equal(reason, "bot-finished");
});
