import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import type { Vendor } from "../../../../testing/vendors/http-vendor.ts";
import { startGemini } from "../../../../testing/vendors/gemini.ts";
import { startOpenAiRealtime, type RealtimeScript } from "../../../../testing/vendors/openai-realtime.ts";
import { createHum, hearLoudness } from "../../../../testing/voice-stand-ins.ts";
import { until } from "../../../../testing/wait.ts";
import { gemini } from "../providers/gemini.ts";
import { openai } from "../providers/openai.ts";
import { openTalk, type Talk } from "../testing/talk.ts";
import { createRealtimeConversation } from "./realtime.ts";
import type { SpeechModel, SpeechModelEvents } from "./speech-model.ts";
import { tool } from "./tool.ts";

const SIGNAL_MS = 450; // two tones
const LONG =
  "This is a long answer that goes on and on for quite a while so that somebody can stop it in time.";
const script: RealtimeScript = {
  phrases: ["Hello there my friend.", "Stop it right now.", "What is the weather like?"],
  answer(asked) {
    if (asked.startsWith("Say exactly this")) return "Good day.";
    if (asked.startsWith("result")) return `It has ${asked.slice("result ".length)} degrees.`;
    if (asked.startsWith("What")) return [{ name: "weather", arguments: { city: "Rome" } }];
    return asked.startsWith("Hello") ? LONG : "All right.";
  },
};

interface Model {
  model: SpeechModel;
  refused: readonly string[];
  results: readonly string[];
  told: readonly string[];
  fail: Vendor["fail"];
  truncatedMs?: readonly number[];
}

const models: [string, (stack: AsyncDisposableStack) => Promise<Model>][] = [
  [
    "openai",
    async (stack) => {
      const service = stack.use(await startOpenAiRealtime(script));
      return { ...service, model: openai.realtime({ apiKey: "sk-test", baseUrl: service.url }) };
    },
  ],
  [
    "gemini",
    async (stack) => {
      const service = stack.use(await startGemini(script));
      return { ...service, model: gemini.live({ apiKey: "ge-test", baseUrl: service.url }) };
    },
  ],
];

function talkWith(model: SpeechModel): Promise<Talk> {
  return openTalk({
    phrases: script.phrases,
    answer: () => "",
    create: (transport) =>
      createRealtimeConversation(transport, {
        model,
        greeting: "Good day.",
        context: { instructions: "Be brief." },
        tools: {
          weather: tool({
            description: "Knows the weather",
            parameters: z.object({ city: z.string() }),
            run: ({ city }) => (city === "Rome" ? 25 : 0),
          }),
        },
      }),
  });
}

describe("a conversation with a model that speaks itself", { concurrency: 2 }, () => {
  for (const [name, start] of models)
    test(`${name}: it greets, answers, is interrupted and uses a tool`, async () => {
      await using stack = new AsyncDisposableStack();
      const { model, refused, truncatedMs } = await start(stack);
      await using talk = await talkWith(model);
      await talk.happened(/^bot: Good day/);
      const before = talk.heardMs;
      await talk.say("Hello there my friend.");
      await talk.hears(before + 900);
      await talk.say("Stop it right now.");
      await talk.happened(/^bot \(cut\)/);
      await talk.happened(/^bot: All right/);
      await talk.say("What is the weather like?");
      await talk.happened(/^bot: It has 25 degrees/);
      const cut =
        talk.events.find((event) => event.startsWith("bot (cut): "))?.slice("bot (cut): ".length) ?? "";
      assert.ok(cut.length > 0 && cut.length < LONG.length && LONG.startsWith(cut), cut);
      assert.deepEqual(
        talk.conversation.messages.map(({ role, content }) => [role, content]),
        [
          ["system", "Be brief."],
          ["assistant", "Good day."],
          ["user", "Hello there my friend."],
          ["assistant", cut],
          ["user", "Stop it right now."],
          ["assistant", "All right."],
          ["user", "What is the weather like?"],
          ["assistant", ""],
          ["tool", "25"],
          ["assistant", "It has 25 degrees."],
        ],
      );
      if (truncatedMs) assert.ok(truncatedMs.length === 1 && truncatedMs[0]! > 100, truncatedMs.join());
      assert.deepEqual(refused, []);
      assert.deepEqual(
        talk.events.filter((event) => event.startsWith("error") || event.startsWith("failed")),
        [],
      );
      assert.equal(talk.figures.at(-1)?.toolCalls, 1);
      assert.ok(talk.told("llm-function-call-stopped") && talk.told("bot-interrupted"));
    });

  for (const [name, start] of models)
    for (const whenInterrupted of ["finish", "cancel"] as const)
      test(`${name}: a tool to ${whenInterrupted} tells the model the truth when the caller interrupts it`, async () => {
        await using stack = new AsyncDisposableStack();
        const { model, refused, results } = await start(stack);
        const running = Promise.withResolvers<number>();
        const tools = {
          weather: tool({
            description: "Knows the weather",
            parameters: z.object({ city: z.string() }),
            whenInterrupted,
            run: () => running.promise,
          }),
        };
        await using talk = await openTalk({
          phrases: script.phrases,
          answer: () => "",
          create: (transport) => createRealtimeConversation(transport, { model, tools }),
        });
        await talk.say("What is the weather like?");
        await until(() => talk.told("llm-function-call-in-progress"), 5_000, "the tool");
        await talk.say("Stop it right now.");
        await talk.happened(/^user: Stop it/);
        await talk.happened(/^bot: All right/);
        running.resolve(25);
        const result =
          whenInterrupted === "finish" ? "25" : "Cancelled: the user interrupted before it was done.";
        if (whenInterrupted === "finish") await talk.happened(/^bot: It has 25 degrees/);
        await until(() => results.length > 0, 5_000, "the result");
        assert.deepEqual([results, refused], [[result], []]);
        const told = talk.conversation.messages.filter(({ role }) => role === "tool");
        assert.deepEqual(
          told.map(({ content }) => content),
          [result],
        );
        assert.ok(
          talk.figures.every(({ firstAudioMs = 0 }) => firstAudioMs >= 0),
          JSON.stringify(talk.figures),
        );
      });

  for (const [name, start] of models)
    test(`${name}: a session that is lost in silence is opened again, knows what was said, and is told what a tool found`, async () => {
      await using stack = new AsyncDisposableStack();
      const { model, refused, told, fail } = await start(stack);
      const running = Promise.withResolvers<number>();
      const tools = {
        weather: tool({
          description: "Knows the weather",
          parameters: z.object({ city: z.string() }),
          run: () => running.promise,
        }),
      };
      await using talk = await openTalk({
        phrases: script.phrases,
        answer: () => "",
        create: (transport) => createRealtimeConversation(transport, { model, tools, greeting: "Good day." }),
      });
      const lose = async (): Promise<void> => {
        const failures = talk.events.filter((event) => event.startsWith("error: ")).length;
        fail("refuses");
        fail(undefined);
        const isTold = (): boolean =>
          talk.events.filter((event) => event.startsWith("error: the model")).length > failures;
        await until(isTold, 5_000, "error event");
      };
      await talk.happened(/^bot: Good day/);
      const { heardMs } = talk;
      await lose();
      await talk.say("What is the weather like?");
      await until(() => talk.told("llm-function-call-in-progress"), 5_000, "the tool");
      await lose();
      assert.equal(talk.heardMs, heardMs, "nobody waited for the model, and nothing was heard of it");
      running.resolve(25);
      await talk.happened(/^bot: It has 25 degrees/);
      const bot = name === "gemini" ? "model" : "assistant";
      assert.deepEqual(
        told.filter((message) => !message.startsWith("user: Say exactly")),
        [
          `${bot}: Good day.`,
          `${bot}: Good day.`,
          "user: What is the weather like?",
          "user: Result of weather: 25",
        ],
      );
      assert.deepEqual(
        refused.filter((refusal) => !refusal.startsWith("upgrade")),
        [],
      );
    });

  test("a model that fails is apologised for in words once, and then by tones", async () => {
    await using service = await startOpenAiRealtime(script);
    await using talk = await openTalk({
      phrases: script.phrases,
      answer: () => "",
      create: (transport) =>
        createRealtimeConversation(transport, {
          model: openai.realtime({ apiKey: "sk-test", baseUrl: service.url }),
          greeting: "Good day.",
          apology: "One moment please.",
          tts: createHum(),
          serviceTimeoutMs: 800,
          voiceActivity: hearLoudness(),
        }),
    });
    await talk.happened(/^bot: Good day/);
    service.fail("refuses");
    await talk.say("Hello there my friend.");
    await talk.happened(/^bot: One moment please/);
    const { heardMs } = talk;
    await talk.hears(heardMs + 300);
    assert.equal(talk.events.filter((event) => event.startsWith("bot: One moment")).length, 1);
    service.fail(undefined);
    await talk.happened(/^bot: This is a long answer/);
    assert.throws(
      () =>
        createRealtimeConversation(talk.conversation.transport, {
          model: openai.realtime({ apiKey: "k" }),
          apology: "No.",
        }),
      /apology .* needs a tts/,
    );
  });

  test("speech that a working model does not care for is given to a second session, and then forgotten", async () => {
    const opened: { events: SpeechModelEvents; heardSamples: number }[] = [];
    const model: SpeechModel = {
      inputRateHz: 16_000,
      open({ events }) {
        const session = { events, heardSamples: 0 };
        opened.push(session);
        queueMicrotask(() => events.ready());
        const nothing = (): void => undefined;
        return {
          write: ({ samples }) => void (session.heardSamples += samples.length),
          interrupted: nothing,
          toolResults: nothing,
          tell: nothing,
          userText: nothing,
          say: nothing,
          close: nothing,
        };
      },
    };
    await using talk = await openTalk({
      phrases: script.phrases,
      answer: () => "",
      create: (transport) =>
        createRealtimeConversation(transport, {
          model,
          serviceTimeoutMs: 400,
          voiceActivity: hearLoudness(),
        }),
    });
    await talk.say("Hello there my friend.");
    await talk.happened(/^error: the model \(unnamed\) sent nothing for 400 ms/);
    await until(() => opened.length === 2, 5_000, "second session");
    await until(() => (opened[1]?.heardSamples ?? 0) > 4 * 16_000, 8_000, "four seconds more");
    assert.equal(opened.length, 2);
    assert.ok(talk.heardMs > 0 && talk.heardMs < 2 * SIGNAL_MS, `${talk.heardMs} ms of signals on the line`);
  });

  test("a refused key is an error that says so", async () => {
    await using service = await startOpenAiRealtime(script);
    await using talk = await talkWith(openai.realtime({ apiKey: "wrong", baseUrl: service.url }));
    await talk.happened(/^error: the model \(OpenAI\) answered 401/);
    await until(() => talk.told("error"), 2_000, "error for the client");
    assert.throws(() => gemini.live({ apiKey: "" }), /Set GEMINI_API_KEY/);
  });
});
