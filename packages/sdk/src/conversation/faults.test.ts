import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { patientMs } from "../../../../testing/patience.ts";
import { size } from "../../../../testing/sizes.ts";
import { startDeepgram } from "../../../../testing/vendors/deepgram.ts";
import type { Fault, Vendor } from "../../../../testing/vendors/http-vendor.ts";
import { startGemini } from "../../../../testing/vendors/gemini.ts";
import { startOpenAiRealtime } from "../../../../testing/vendors/openai-realtime.ts";
import { startOpenAi } from "../../../../testing/vendors/openai.ts";
import { hearLoudness } from "../../../../testing/voice-stand-ins.ts";
import { pause, until } from "../../../../testing/wait.ts";
import { deepgram } from "../providers/deepgram.ts";
import { gemini } from "../providers/gemini.ts";
import { openai } from "../providers/openai.ts";
import { openTalk } from "../testing/talk.ts";
import { createConversation } from "./conversation.ts";
import { createRealtimeConversation } from "./realtime.ts";
import type { SpeechModel } from "./speech-model.ts";

// Faults of services through the vendors' own protocols. Time limits are a quarter of the defaults in the usual
// run.
const LIMIT_MS = size(1_000, 4_000);
const OUTAGE_MS = 2.5 * LIMIT_MS;
const SILENCE_MAX_MS = 1.25 * LIMIT_MS;
const PHRASE = "Hello there my friend.";
const ANSWER = "This is what you wanted to know. And this is a little more of it.";

type Stage =
  | "OpenAI stt"
  | "Deepgram stt"
  | "OpenAI llm"
  | "OpenAI tts"
  | "OpenAI realtime"
  | "Gemini realtime";
const EARS: Fault[] = ["refuses", "closes", "stalls", "garbles"];
const FAULTS: [Stage, Fault][] = [
  ...EARS.map((fault): [Stage, Fault] => ["OpenAI stt", fault]),
  ...EARS.map((fault): [Stage, Fault] => ["Deepgram stt", fault]),
  ...([...EARS, "closes-midway", "stalls-midway"] as const).flatMap((fault): [Stage, Fault][] => [
    ["OpenAI llm", fault],
    ["OpenAI tts", fault],
    ["OpenAI realtime", fault],
    ["Gemini realtime", fault],
  ]),
];

async function openServices() {
  const stack = new AsyncDisposableStack();
  const hears = stack.use(await startDeepgram({ hear: () => PHRASE }));
  const transcribes = stack.use(await startOpenAi({ hear: () => PHRASE }));
  const writes = stack.use(await startOpenAi({ answer: () => ANSWER }));
  const speaks = stack.use(await startOpenAi());
  const answer = (asked: string): string => (asked.startsWith("Say exactly this") ? "Good day." : ANSWER);
  const hearsAndSpeaks = stack.use(await startOpenAiRealtime({ phrases: [PHRASE], answer }));
  const lives = stack.use(await startGemini({ phrases: [PHRASE], answer }));
  const vendors: Record<Stage, Vendor> = {
    "OpenAI stt": transcribes,
    "Deepgram stt": hears,
    "OpenAI llm": writes,
    "OpenAI tts": speaks,
    "OpenAI realtime": hearsAndSpeaks,
    "Gemini realtime": lives,
  };
  return { vendors, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function talkWith(vendors: Record<Stage, Vendor>, stage: Stage) {
  const account = (of: Stage) => ({ apiKey: "sk-test", baseUrl: vendors[of].url });
  const models: Partial<Record<Stage, () => SpeechModel>> = {
    "OpenAI realtime": () => openai.realtime(account("OpenAI realtime")),
    "Gemini realtime": () => gemini.live({ ...account("Gemini realtime"), apiKey: "ge-test" }),
  };
  return openTalk({
    phrases: [PHRASE],
    answer: () => "",
    create: (transport) => {
      const shared = {
        tts: openai.tts(account("OpenAI tts")),
        greeting: "Good day.",
        apology: "One moment please.",
        serviceTimeoutMs: LIMIT_MS,
      };
      const model = models[stage]?.();
      if (model)
        return createRealtimeConversation(transport, { ...shared, model, voiceActivity: hearLoudness() });
      return createConversation(transport, {
        ...shared,
        stt:
          stage === "Deepgram stt"
            ? deepgram.stt({ apiKey: "dg-test", baseUrl: vendors[stage].url })
            : openai.stt(account("OpenAI stt")),
        llm: openai.llm(account("OpenAI llm")),
        turn: { voiceActivity: hearLoudness() },
      });
    },
  });
}

/** Returns the longest silence a waiting caller hears while a service is failing and after it has recovered. */
async function silenceIn(t: TestContext, stage: Stage, fault: Fault): Promise<void> {
  await using services = await openServices();
  const { vendors } = services;
  await using talk = await talkWith(vendors, stage);
  await talk.happened(/^bot: Good day/);
  await pause(LIMIT_MS / 4); // the apology is prepared meanwhile
  const before = talk.events.length; // a busy machine may be slow to greet
  vendors[stage].fail(fault);
  await talk.say(PHRASE);
  const spokenAtMs = performance.now();
  await pause(OUTAGE_MS);
  vendors[stage].fail(undefined);
  // A model does not repeat an answer that was partly said.
  const isPartlySaid = /llm|realtime/.test(stage) && fault.endsWith("midway");
  const answer = isPartlySaid ? /^bot: This is/ : /^bot: .*And this is a little more/;
  const failure: unknown = await talk.happened(answer, 5 * LIMIT_MS).then(
    () => undefined,
    (error: unknown) => error,
  );
  const heard = talk.heardAtMs.filter((atMs) => atMs > spokenAtMs);
  const gapsMs = [spokenAtMs, ...heard].map(
    (atMs, at) => (heard[at] ?? (failure ? performance.now() : atMs)) - atMs,
  );
  const silenceMs = Math.max(...gapsMs);
  const errors = talk.events.slice(before).filter((event) => event.startsWith("error: "));
  t.diagnostic(
    `${stage} ${fault}: ${(silenceMs / 1_000).toFixed(1)} s, ${failure ? "never answered" : "answered"}; ${errors[0]}`,
  );
  const [vendor, option] = stage.split(" ") as [string, string];
  const name = { stt: "transcriber", llm: "model", realtime: "model", tts: "voice" }[option];
  assert.ifError(failure);
  assert.ok(errors[0]?.startsWith(`error: the ${name} (${vendor}) `), errors.join());
  assert.ok(
    errors.every((error) => error.startsWith(`error: the ${name} (${vendor}) `)),
    errors.join(),
  );
  // The limit grows with the load of the machine.
  assert.ok(silenceMs < patientMs(SILENCE_MAX_MS) / size(1, 3), `${silenceMs} ms of silence`);
}

describe("a failing service leaves no caller in silence", { concurrency: 6 }, () => {
  for (const [stage, fault] of FAULTS)
    for (let round = 1; round <= size(1, 5); round += 1)
      test(`${stage} ${fault} ${round}`, (t) => silenceIn(t, stage, fault));

  test("a voice that was never there is a signal on the line, and greets when it is back", async () => {
    await using services = await openServices();
    services.vendors["OpenAI tts"].fail("refuses");
    await using talk = await talkWith(services.vendors, "OpenAI tts");
    await until(() => talk.heardAtMs.length > 0, 2 * LIMIT_MS, "tones");
    services.vendors["OpenAI tts"].fail(undefined);
    await talk.happened(/^bot: Good day/);
  });

  test("a wrong key is told of and apologised for once, and not tried again", async () => {
    await using services = await openServices();
    await using talk = await openTalk({
      phrases: [PHRASE],
      answer: () => "",
      options: {
        llm: openai.llm({ apiKey: "sk-wrong", baseUrl: services.vendors["OpenAI llm"].url }),
        apology: "I am sorry.",
      },
    });
    await talk.say(PHRASE);
    await talk.happened(/^bot: I am sorry/);
    assert.deepEqual(
      talk.events.filter((event) => event.startsWith("error")),
      ["error: the model (OpenAI) answered 401: is its key right, and may it do this?"],
    );
  });
});
