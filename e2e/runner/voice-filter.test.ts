import assert from "node:assert/strict";
import { test } from "node:test";
import { echoOfNoise, NOISE_PEAK } from "../harness/noise.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { openSocket } from "../harness/socket-client.ts";

test("with --voice-filter a bot that attaches nothing hears noise as near silence", async () => {
  await using runner = await startRunnerProcess({
    bot: "examples/echo/bot.ts",
    flags: ["--voice-filter", "tel"],
  });
  assert.match(runner.output(), /Voice filter +tel, in every session/);
  using client = await openSocket(`ws://127.0.0.1:${runner.port}/ws-client`);
  const peak = await echoOfNoise(client);
  assert.ok(peak < NOISE_PEAK / 8, `peak of ${peak}`);
});
