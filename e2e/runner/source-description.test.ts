import assert from "node:assert/strict";
import { after, test } from "node:test";
import { until } from "../../testing/wait.ts";
import { invalidSourceDescriptions } from "../harness/invalid-rtcp.ts";
import { callBot, freePeerClients } from "../harness/peer-client.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";

const runner = await startRunnerProcess({ bot: "e2e/bots/impatient-runner.ts" });
after(async () => {
  await runner[Symbol.asyncDispose]();
  freePeerClients();
});

test("an invalid source description of one client leaves the others their calls, and lets new ones come", async () => {
  using odd = await callBot({ port: runner.port });
  using other = await callBot({ port: runner.port });
  for (const packet of invalidSourceDescriptions(0x5eed)) odd.sendPacket(packet);
  // It has come through, and so have the packets before it.
  for (const peer of [odd, other, await callBot({ port: runner.port })]) {
    peer.heard.restart();
    await peer.speak(30, "tone");
    await until(() => peer.heard.voiced >= 20, 15_000, "echo");
  }
  assert.ok(runner.process.exitCode === null);
});
