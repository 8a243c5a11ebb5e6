import { FRAME_MS, parseWav, samplesIn } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { spawnRunner, startRunnerProcess } from "../harness/runner-process.ts";
import { openSocket, type SocketClient } from "../harness/socket-client.ts";
import { startCarrierRest } from "../../testing/carrier-rest.ts";
import { pause, until } from "../../testing/wait.ts";
import { startOpenAiRealtime } from "../../testing/vendors/openai-realtime.ts";
import { startOpenAi, type OpenAiStandIn } from "../../testing/vendors/openai.ts";
import { dial } from "../telephony/telephone.ts";

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
  call.press("2421#1"); // a caller who knows the menu does not wait for it
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

const environment = (models: OpenAiStandIn): Record<string, string> => ({
  OPENAI_API_KEY: "sk-test",
  OPENAI_BASE_URL: models.url,
});

test("the bot of the web template repeats what it hears as long as it has no key, and says why", async () => {
  await using runner = await startRunnerProcess({
    bot: "examples/web/bot.ts",
    environment: { OPENAI_API_KEY: "" },
  });
  using client = await call(runner.url);
  client.sendMessage({ id: "1", label: "rtvi-ai", type: "client-ready", data: { version: "2.2.0" } });
  const { data } = await client.message("server-message");
  assert.match((data as { note: string }).note, /no OPENAI_API_KEY/);
  await say(client, 2_000);
  await until(() => client.heardMs > 500 && client.peak > 5_000, 15_000, "what was said");
});

test("assistant hears, looks something up and answers", async () => {
  let asked = 0; // the recording pauses, so it is asked for in parts
  await using models = await startOpenAi({
    hear: () => (asked++ === 0 ? "When are you open on Monday?" : ""),
    answer: ({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? "We are closed on Monday. Come on Tuesday!"
        : [{ name: "opening_hours", arguments: { day: "Monday" } }],
  });
  await using runner = await startRunnerProcess({
    bot: "examples/assistant/bot.ts",
    environment: environment(models),
  });
  using client = await call(runner.url);
  await until(() => models.spoken.length === 1 && client.heardMs > 500, 15_000, "greeting");
  const speaking = say(client, 3_000);
  await until(() => shown(client).includes("Come on Tuesday!"), 30_000, "the answer");
  const transcripts = client.messages
    .filter(({ type }) => type === "user-transcription")
    .map(({ data }) => data as { text: string; final: boolean });
  assert.ok(transcripts.some(({ final, text }) => final && text === "When are you open on Monday?"));
  await speaking;
  assert.ok(shown(client).includes("We are closed on Monday."));
  assert.equal(models.chats[1]?.messages.at(-1)?.content, "closed");
  assert.deepEqual(models.refused, []);
  assert.ok(client.peak > 5_000);
  assert.ok(models.keys.every((key) => key === "sk-test"));
});

test("assistant hands a phone call on", async () => {
  await using rest = await startCarrierRest();
  await using models = await startOpenAi({
    hear: () => "Can I talk to somebody?",
    answer: () => [{ name: "connect", arguments: {} }],
  });
  await using runner = await startRunnerProcess({
    bot: "examples/assistant/bot.ts",
    environment: { ...rest.environment, ...environment(models), DESK_NUMBER: "+12025550177" },
  });
  const sentence = parseWav(await readFile(SPEECH));
  const url = `${runner.url.replace("http", "ws")}/ws`;
  const call = dial({
    carrier: { name: "telnyx" },
    url,
    sentences: [sentence],
    line: { maxCallMs: 120_000 },
  });
  await call.ended(120_000);
  assert.deepEqual(
    [rest.done, rest.refused],
    [[`telnyx transfers ${call.details.ids.callId} to +12025550177`], []],
  );
  assert.ok(models.spoken.includes("One moment, I am connecting you."));
});

test("assistant ends the call when it is asked to", async () => {
  await using models = await startOpenAi({
    answer: ({ messages }) =>
      messages.at(-1)?.role === "tool" ? "Goodbye!" : [{ name: "hang_up", arguments: {} }],
  });
  await using runner = await startRunnerProcess({
    bot: "examples/assistant/bot.ts",
    environment: environment(models),
  });
  using client = await call(runner.url);
  client.sendMessage({ id: "1", label: "rtvi-ai", type: "send-text", data: { content: "bye" } });
  await client.closed(30_000);
  assert.ok(shown(client).includes("Goodbye!"));
});

test("assistant says in plain words that its model service failed", async () => {
  await using models = await startOpenAi({ isFailing: true });
  await using runner = await startRunnerProcess({
    bot: "examples/assistant/bot.ts",
    environment: environment(models),
  });
  using client = await call(runner.url);
  client.sendMessage({ id: "1", label: "rtvi-ai", type: "send-text", data: { content: "hello" } });
  const { data } = await client.message("error");
  assert.match((data as { error: string }).error, /the (?:model|voice) \(OpenAI\) answered 500/);
});

/** Sentences the client was shown, each once. */
function shown(client: SocketClient): string[] {
  return client.messages
    .filter(({ type }) => type === "bot-output")
    .map(({ data }) => data as { text: string; spoken_status?: string })
    .filter(({ spoken_status }) => spoken_status === "new")
    .map(({ text }) => text);
}

test("realtime greets, answers and uses its tool", async () => {
  await using models = await startOpenAiRealtime({
    phrases: [],
    answer(asked) {
      if (asked.startsWith("result")) return "It is late.";
      return asked.startsWith("Say exactly this: Hello")
        ? "Hello, how can I help?"
        : [{ name: "time", arguments: {} }];
    },
  });
  await using runner = await startRunnerProcess({
    bot: "examples/realtime/bot.ts",
    environment: { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: models.url },
  });
  using client = await call(runner.url);
  await until(() => client.heardMs > 500 && client.peak > 5_000, 15_000, "greeting");
  client.sendMessage({ id: "1", label: "rtvi-ai", type: "send-text", data: { content: "What time is it?" } });
  await until(() => shown(client).includes("It is late."), 15_000, "the answer");
  assert.deepEqual(models.refused, []);
});

test("assistant says what is missing when no key is set", async () => {
  const runner = spawnRunner({ bot: "examples/assistant/bot.ts", environment: { OPENAI_API_KEY: "" } });
  assert.notEqual(await runner.end("SIGCONT"), 0);
  assert.match(runner.output(), /Set OPENAI_API_KEY/);
  assert.doesNotMatch(runner.output(), /\n\s+at /, "no stack trace for a missing setting");
});
