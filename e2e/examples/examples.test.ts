import { FRAME_MS, parseWav, samplesIn } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { spawnRunner, startRunnerProcess } from "../harness/runner-process.ts";
import { openSocket, type SocketClient } from "../harness/socket-client.ts";
import { startCarrierRest } from "../../testing/carrier-rest.ts";
import { pause, until } from "../../testing/wait.ts";
import { dial } from "../telephony/telephone.ts";
import { ANSWERS, HEARD, startModelService } from "./model-service.ts";

const SPEECH = new URL("../../packages/sdk/src/speech/fixtures/table-for-two.wav", import.meta.url);

async function call(url: string): Promise<SocketClient> {
  return openSocket(`${url.replace("http", "ws")}/ws-client`);
}

/** Says the recorded sentence at the pace of a person, then keeps the line open with silence. */
async function say(client: SocketClient, silenceMs: number): Promise<void> {
  const { samples, sampleRateHz } = parseWav(await readFile(SPEECH));
  const padded = new Int16Array(samples.length + samplesIn(silenceMs, sampleRateHz));
  padded.set(samples);
  const perFrame = samplesIn(FRAME_MS, sampleRateHz);
  const startMs = performance.now();
  for (let at = 0; at < padded.length; at += perFrame) {
    client.sendAudio(padded.subarray(at, at + perFrame), sampleRateHz);
    const dueMs = startMs + (at / sampleRateHz) * 1000;
    if (dueMs > performance.now() + FRAME_MS) await pause(dueMs - performance.now());
  }
}

test("echo says back what it hears", async () => {
  await using runner = await startRunnerProcess({ bot: "examples/echo/bot.ts" });
  using client = await call(runner.url);
  client.sendAudio(Int16Array.from({ length: 16_000 }, (_, at) => Math.round(Math.sin(at / 4) * 10_000)));
  await until(() => client.heardMs > 500 && client.peak > 8_000, 5_000, "echo");
});

test("tone plays and changes its pitch by keys", async () => {
  await using runner = await startRunnerProcess({ bot: "examples/tone/bot.ts" });
  using client = await call(runner.url);
  await client.message("bot-started-speaking");
  await until(() => client.heardMs > 300 && client.peak > 8_000, 5_000, "tone");
  client.sendMessage({ id: "1", label: "rtvi-ai", type: "dtmf", data: { buttons: ["7"] } });
  await client.message("bot-stopped-speaking");
});

test("phone-menu takes a number, plays it back and connects with the desk", async () => {
  await using rest = await startCarrierRest();
  await using runner = await startRunnerProcess({
    bot: "examples/phone-menu/bot.ts",
    environment: { ...rest.environment, DESK_NUMBER: "+12025550177" },
  });
  const url = `${runner.url.replace("http", "ws")}/ws`;
  const call = dial({ carrier: { name: "telnyx" }, url });
  call.press("2421#1"); // somebody who knows the menu does not wait for it
  await call.ended();
  const { callId } = call.details.ids;
  assert.deepEqual(
    [rest.done, rest.refused],
    [[`telnyx presses 421 in ${callId}`, `telnyx transfers ${callId} to +12025550177`], []],
  );
});

test("parrot repeats a whole turn once it has ended", async () => {
  await using runner = await startRunnerProcess({ bot: "examples/parrot/bot.ts" });
  using client = await call(runner.url);
  await say(client, 1_500);
  await client.message("user-started-speaking");
  await client.message("user-stopped-speaking");
  await client.message("bot-stopped-speaking", 10_000);
  const types = client.messages.map(({ type }) => type);
  assert.ok(types.indexOf("user-stopped-speaking") < types.indexOf("bot-started-speaking"));
  assert.ok(client.heardMs > 1_500, `heard ${client.heardMs} ms`);
  assert.ok(client.peak > 2_000);
});

test("assistant hears, thinks and speaks with a model service", async () => {
  await using models = await startModelService();
  await using runner = await startRunnerProcess({
    bot: "examples/assistant/bot.ts",
    environment: { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: models.url },
  });
  using client = await call(runner.url);
  await say(client, 1_500);
  const { data } = await client.message("user-transcription", 10_000);
  assert.equal((data as { text: string }).text, HEARD);
  await client.message("bot-stopped-speaking", 10_000);
  const shown = client.messages.filter(({ type }) => type === "bot-output").map((message) => message.data);
  const isNew = (output: unknown): boolean => (output as { spoken_status: string }).spoken_status === "new";
  assert.deepEqual(
    shown.filter(isNew).map((output) => (output as { text: string }).text),
    ANSWERS,
  );
  assert.ok(client.heardMs > 800 && client.peak > 5_000);
  assert.ok(models.asked.every(({ authorization }) => authorization === "Bearer sk-test"));
});

test("assistant says in plain words that its model service failed", async () => {
  await using models = await startModelService({ failing: true });
  await using runner = await startRunnerProcess({
    bot: "examples/assistant/bot.ts",
    environment: { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: models.url },
  });
  using client = await call(runner.url);
  client.sendMessage({ id: "1", label: "rtvi-ai", type: "send-text", data: { content: "hello" } });
  const { data } = await client.message("error");
  assert.match((data as { error: string }).error, /model service failed.*500/i);
});

test("assistant says what is missing when no key is set", async () => {
  const runner = spawnRunner({ bot: "examples/assistant/bot.ts", environment: { OPENAI_API_KEY: "" } });
  assert.notEqual(await runner.end("SIGCONT"), 0);
  assert.match(runner.output(), /Set OPENAI_API_KEY/);
  assert.doesNotMatch(runner.output(), /\n\s+at /, "no stack trace for a missing setting");
});
