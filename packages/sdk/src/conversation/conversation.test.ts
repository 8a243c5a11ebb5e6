import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { lastUserText, toolCall } from "../../../../testing/voice-stand-ins.ts";
import { pause, until } from "../../../../testing/wait.ts";
import { openTalk } from "../testing/talk.ts";
import { tool } from "./tool.ts";

const LONG =
  "This is the first sentence of a long answer. And this is the second one, which goes on for a while.";
const phrases = [
  "Hello there my friend.",
  "Stop it right now.",
  "mm-hmm",
  "I would like to",
  "book a table please.",
  "yes",
];

// These tests mostly wait, so several can run at once.
describe("a conversation", { concurrency: 3 }, () => {
  test("a turn is heard, thought about and answered, and the client is told of all of it", async () => {
    await using talk = await openTalk({
      phrases,
      answer: () => "Good morning! It is **nice** to meet you.",
      options: { context: { instructions: "Be brief." } },
    });
    await talk.say("Hello there my friend.");
    await talk.happened(/^bot/);
    assert.deepEqual(talk.events, [
      "user: Hello there my friend.",
      "bot: Good morning! It is **nice** to meet you.",
    ]);
    assert.deepEqual(talk.conversation.messages, [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello there my friend." },
      { role: "assistant", content: "Good morning! It is **nice** to meet you." },
    ]);
    assert.deepEqual(talk.hum.spoken, ["Good morning!", "It is nice to meet you."]);
    await until(() => talk.told("metrics"), 5_000, "figures for the client");
    const types = new Set(talk.messages.map(({ type }) => type));
    for (const type of [
      ...["user-started-speaking", "user-stopped-speaking", "user-transcription", "user-llm-text"],
      ...[
        "bot-llm-started",
        "bot-llm-text",
        "bot-llm-stopped",
        "bot-tts-started",
        "bot-tts-text",
        "bot-tts-stopped",
      ],
      ...["bot-output", "bot-started-speaking", "metrics"],
    ])
      assert.ok(types.has(type), type);
    const transcripts = talk.messages.filter(({ type }) => type === "user-transcription");
    assert.deepEqual(transcripts.map(({ data }) => (data as { final: boolean }).final).slice(-1), [true]);
    assert.ok(transcripts.length > 1, "words are shown while they are said");
    const [figures] = talk.figures;
    assert.ok(figures);
    const { decidedMs, firstTokenMs = 0, firstSpeechMs = 0, firstAudioMs = 0 } = figures;
    assert.ok(decidedMs >= 290 && decidedMs < 900, `decided after ${decidedMs} ms`);
    assert.ok(firstTokenMs >= decidedMs && firstSpeechMs >= firstTokenMs && firstAudioMs >= firstSpeechMs);
    assert.deepEqual([figures.turn, figures.interrupted, figures.inputTokens], [1, false, 2]);
  });

  test("an interruption stops the bot, and the context has what was heard", async () => {
    await using talk = await openTalk({
      phrases,
      answer: (request) => (lastUserText(request).startsWith("Stop") ? "All right." : LONG),
    });
    await talk.say("Hello there my friend.");
    await talk.hears(1_200);
    await talk.say("Stop it right now.");
    await talk.happened(/^bot \(cut\)/);
    await talk.happened(/^bot: All right/);
    const heard = talk.conversation.messages[1]?.content ?? "";
    assert.ok(LONG.startsWith(heard) && heard.length > 10 && heard.length < LONG.length, heard);
    assert.deepEqual(
      talk.model.requests[1]?.messages.map(({ role }) => role),
      ["user", "assistant", "user"],
    );
    assert.ok(talk.told("bot-interrupted"));
    assert.deepEqual(
      talk.figures.map(({ interrupted }) => interrupted),
      [true, false],
    );
  });

  test("go on is no interruption: the bot pauses and speaks on to the end", async () => {
    await using talk = await openTalk({ phrases, answer: () => LONG });
    await talk.say("Hello there my friend.");
    await talk.hears(800);
    await talk.say("mm-hmm", { ms: 400 });
    await talk.happened(/^false: mm-hmm/);
    await talk.happened(/^bot/, 12_000);
    assert.ok(talk.events.includes(`bot: ${LONG}`), talk.events.join(" | "));
    assert.equal(talk.told("bot-interrupted"), undefined);
    assert.equal(talk.conversation.messages.length, 2);
  });

  test("a mere yes that comes with the bot's last words is an answer", async () => {
    await using talk = await openTalk({
      phrases,
      answer: (request) =>
        lastUserText(request) === "yes" ? "Fine." : "Shall I book the table for you now?",
    });
    await talk.say("Hello there my friend.");
    await talk.hears(1_100); // of 1400
    await talk.say("yes", { ms: 300 });
    await talk.happened(/^bot: Fine/);
  });

  test("a user who continues before an answer was heard has said one thing", async () => {
    await using talk = await openTalk({
      phrases,
      answer: () => "Of course.",
      options: { turn: { endOfTurn: { silenceMs: () => 200 } } },
      hum: { delayMs: 2_000 },
    });
    await talk.say("I would like to");
    await pause(400);
    await talk.say("book a table please.");
    await talk.happened(/^bot: Of course/);
    assert.deepEqual(talk.conversation.messages, [
      { role: "user", content: "I would like to book a table please." },
      { role: "assistant", content: "Of course." },
    ]);
  });

  test("a pause in the middle of a sentence is waited for", async () => {
    await using talk = await openTalk({ phrases, answer: () => "Of course." });
    await talk.say("I would like to");
    await pause(900);
    await talk.say("book a table please.");
    await talk.happened(/^bot: Of course/);
    assert.deepEqual(talk.events[0], "user: I would like to book a table please.");
    assert.equal(talk.model.requests.length, 1);
  });

  test("tools run at the same time, and something is said while they do", async () => {
    const running: string[] = [];
    const lookUp = (name: string) =>
      tool({
        description: `Looks up ${name}`,
        parameters: z.object({ city: z.string() }),
        filler: "One moment please.",
        fillerAfterMs: 100,
        async run({ city }) {
          running.push(`${name} in ${city}`);
          await until(() => running.length === 2, 5_000, "the other tool");
          await pause(300);
          return { [name]: 1 };
        },
      });
    await using talk = await openTalk({
      phrases,
      answer: ({ messages }) =>
        messages.at(-1)?.role === "tool"
          ? "It is warm."
          : [toolCall("weather", { city: "Rome" }), toolCall("news", { city: "Rome" })],
      options: { tools: { weather: lookUp("weather"), news: lookUp("news") } },
    });
    await talk.say("Hello there my friend.");
    await talk.happened(/^bot/);
    assert.deepEqual(talk.events.slice(-1), ["bot: One moment please. It is warm."]);
    const [, calls, first, second, last] = talk.conversation.messages;
    assert.deepEqual([calls?.role, calls?.content], ["assistant", "One moment please."]);
    assert.deepEqual([first?.content, second?.content], ['{"weather":1}', '{"news":1}']);
    assert.deepEqual(last, { role: "assistant", content: "It is warm." });
    assert.deepEqual(talk.model.requests[0]?.tools[0], {
      name: "weather",
      description: "Looks up weather",
      parameters: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
      },
    });
    const told = talk.messages
      .filter(({ type }) => type.startsWith("llm-function-call"))
      .map(({ type }) => type);
    assert.deepEqual(told.filter((type) => type.endsWith("stopped")).length, 2);
    assert.equal(talk.figures[0]?.toolCalls, 2);
  });

  test("an interruption cancels tools, but not those that are to finish", async () => {
    const aborted: string[] = [];
    const finished = Promise.withResolvers<void>();
    await using talk = await openTalk({
      phrases,
      answer: (request) =>
        lastUserText(request).startsWith("Stop")
          ? "Stopped."
          : [
              toolCall("slow", {}),
              toolCall("order", {}),
              toolCall("bad", { count: "x" }),
              toolCall("none", {}),
            ],
      options: {
        tools: {
          slow: tool({
            description: "Takes for ever",
            run: (_, { signal }) =>
              new Promise((_resolve, reject) =>
                signal.addEventListener("abort", () => {
                  aborted.push("slow");
                  reject(new Error("aborted"));
                }),
              ),
          }),
          order: tool({
            description: "Must not be stopped",
            whenInterrupted: "finish",
            run: () => finished.promise.then(() => "ordered"),
          }),
          bad: tool({ description: "x", parameters: z.object({ count: z.number() }), run: () => "" }),
        },
      },
    });
    await talk.say("Hello there my friend.");
    await until(() => talk.model.requests.length === 1, 5_000, "the model");
    await pause(200);
    await talk.say("Stop it right now.");
    await talk.happened(/^bot: Stopped/);
    finished.resolve();
    const results = (): unknown[] =>
      talk.conversation.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    await until(() => results().includes("ordered"), 2_000, "the result that came later");
    assert.deepEqual(aborted, ["slow"]);
    const [slow, order, bad, none] = results() as string[];
    assert.match(slow ?? "", /^Cancelled/);
    assert.equal(order, "ordered");
    assert.match(bad ?? "", /Invalid arguments.*count/s);
    assert.match(none ?? "", /no tool called none/);
  });

  test("typed text is answered, in silence if that is wished", async () => {
    await using talk = await openTalk({ phrases, answer: () => "Seen." });
    talk.send("send-text", { content: "hello", options: { audio_response: false } });
    const { data } = await until(() => talk.told("bot-output"), 5_000, "the answer");
    assert.equal((data as { text: string }).text, "Seen.");
    await until(() => talk.conversation.messages.length === 2, 2_000, "the answer in the context");
    assert.equal(talk.heardMs, 0);
    talk.send("send-text", { content: "hello again" });
    await talk.happened(/^bot: Seen/);
    assert.ok(talk.heardMs > 0);
  });

  test("a service that fails is told of, apologised for, and the conversation goes on", async () => {
    let fails = true;
    await using talk = await openTalk({
      phrases,
      answer() {
        if (fails) throw new Error("out of order");
        return "Here I am.";
      },
      options: { apology: "I am sorry." },
    });
    await talk.say("Hello there my friend.");
    await until(() => talk.events.length > 2, 5_000, "a second attempt");
    assert.deepEqual(
      talk.events.slice(1, 3),
      Array(2).fill("error: the model (script) failed: out of order"),
    );
    await until(() => talk.told("error"), 5_000, "the client is told");
    fails = false;
    await talk.happened(/^bot: I am sorry. Here I am/);
  });

  test("what must be heard cannot be interrupted, and what was said meanwhile is answered", async () => {
    await using talk = await openTalk({ phrases, answer: () => "Understood." });
    const said = talk.conversation.say("This call is being recorded for training.", { interruptible: false });
    await talk.hears(300);
    await talk.say("Stop it right now.");
    assert.deepEqual(await said, { heard: "This call is being recorded for training.", interrupted: false });
    await talk.happened(/^bot: Understood/);
  });

  test("a tool may speak and end the conversation", async () => {
    await using talk = await openTalk({
      phrases,
      answer: ({ messages }) => (messages.at(-1)?.role === "tool" ? "Goodbye!" : [toolCall("leave", {})]),
      options: {
        greeting: "Hi.",
        tools: {
          leave: tool({
            description: "Ends the call",
            async run(_, { conversation }) {
              await conversation.say("I am leaving.");
              conversation.end();
            },
          }),
        },
      },
    });
    await talk.happened(/^bot: Hi/);
    await talk.say("Hello there my friend.");
    await talk.over;
    assert.deepEqual(talk.events.slice(-1), ["bot: I am leaving. Goodbye!"]);
  });

  test("without words from the voice, what was heard is known by its length", async () => {
    await using talk = await openTalk({ phrases, answer: () => LONG, hum: { tellsWords: false } });
    await talk.say("Hello there my friend.");
    await talk.hears(1_500);
    talk.conversation.interrupt();
    await talk.happened(/^bot \(cut\)/);
    const heard = talk.conversation.messages[1]?.content ?? "";
    assert.ok(LONG.startsWith(heard) && heard.length > 15 && heard.length < LONG.length, heard);
  });
});
