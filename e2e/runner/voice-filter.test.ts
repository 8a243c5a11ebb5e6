import assert from "node:assert/strict";
import { after, test } from "node:test";
import { until } from "../../testing/wait.ts";
import { echoOfNoise, NOISE_LEVEL } from "../harness/noise.ts";
import { callBot, freePeerClients } from "../harness/peer-client.ts";
import { call } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { openSocket } from "../harness/socket-client.ts";

after(() => freePeerClients());

test("with --voice-filter a bot that attaches nothing hears noise as near silence", async () => {
  await using runner = await startRunnerProcess({
    bot: "examples/echo/bot.ts",
    flags: ["--voice-filter", "tel"],
  });
  assert.match(runner.output(), /Voice filter +tel, in every session/);
  using client = await openSocket(`ws://127.0.0.1:${runner.port}/ws-client`);
  const level = await echoOfNoise(client);
  assert.ok(level < NOISE_LEVEL / 20, `level of ${level}`);
});

test("a caller can look at the filter and switch it off to compare", async () => {
  await using runner = await startRunnerProcess({
    bot: "examples/echo/bot.ts",
    flags: ["--voice-filter", "pro"],
  });
  const { sessionId } = (await call(runner.port, "POST /start", { body: {} })).json();
  const path = `/sessions/${sessionId}/api/voice-filter`;
  const bypass = { body: { isBypassed: true } };
  assert.equal((await call(runner.port, `GET ${path}`)).json().model, null);
  assertRefused(await call(runner.port, `POST ${path}`, bypass), "VOICE_FILTER_NOT_ATTACHED");
  assertRefused(await call(runner.port, "GET /api/voice-filter"), "SESSION_NOT_FOUND");

  using peer = await callBot({ port: runner.port, path: `/sessions/${sessionId}/api/offer` });
  await until(async () => (await call(runner.port, `GET ${path}`)).json().model, 20_000, "filter");
  assertRefused(await call(runner.port, `POST ${path}`, { body: { isBypassed: 1 } }), "INVALID_REQUEST");
  assert.equal((await call(runner.port, `POST ${path}`, bypass)).json().isBypassed, true);
  await peer.speak(100, "tone");
  const { model, levels } = (await call(runner.port, `GET ${path}`)).json();
  assert.equal(model, "pro");
  // The last step of 100 ms may hold the end of the tone and some silence.
  const loud = (levels as { beforeDb: number; afterDb: number }[]).findLast(({ beforeDb }) => beforeDb > -20);
  assert.ok(loud && loud.afterDb < loud.beforeDb - 10, JSON.stringify(levels.slice(-3)));
});
