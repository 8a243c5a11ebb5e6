import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { startGemini } from "../../../../testing/vendors/gemini.ts";
import { startOpenAiRealtime, type RealtimeScript } from "../../../../testing/vendors/openai-realtime.ts";
import { until } from "../../../../testing/wait.ts";
import { gemini } from "../providers/gemini.ts";
import { openai } from "../providers/openai.ts";
import { openTalk, type Talk } from "../testing/talk.ts";
import { createRealtimeConversation } from "./realtime.ts";
import type { SpeechModel } from "./speech-model.ts";
import { tool } from "./tool.ts";

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

  test("a refused key is an error that says so", async () => {
    await using service = await startOpenAiRealtime(script);
    await using talk = await talkWith(openai.realtime({ apiKey: "wrong", baseUrl: service.url }));
    await talk.happened(/^error: the model \(OpenAI\) answered 401/);
    await until(() => talk.told("error"), 2_000, "error for the client");
    assert.throws(() => gemini.live({ apiKey: "" }), /Set GEMINI_API_KEY/);
  });
});
