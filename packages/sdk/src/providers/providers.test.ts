import { frameMs, samplesIn, type AudioFrame } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { test } from "node:test";
import { startCartesia } from "../../../../testing/vendors/cartesia.ts";
import { startDeepgram } from "../../../../testing/vendors/deepgram.ts";
import { startElevenLabs } from "../../../../testing/vendors/elevenlabs.ts";
import { startOpenAi } from "../../../../testing/vendors/openai.ts";
import { until, within } from "../../../../testing/wait.ts";
import type {
  LanguageModelRequest,
  SpeakOptions,
  TextToSpeech,
  ToolDeclaration,
} from "../conversation/services.ts";
import { isAudio } from "../conversation/services.ts";
import type { TimedWord } from "../speech/words.ts";
import { cartesia } from "./cartesia.ts";
import { deepgram } from "./deepgram.ts";
import { elevenlabs } from "./elevenlabs.ts";
import { openai, openaiCompatible, ServiceError } from "./openai.ts";

const { signal } = new AbortController();
const weather: ToolDeclaration = {
  name: "weather",
  description: "Says what the weather is",
  parameters: { type: "object", properties: { city: { type: "string" } } },
};

function ask(change: Partial<LanguageModelRequest> = {}): LanguageModelRequest {
  return { messages: [{ role: "user", content: "Hello" }], tools: [], signal, ...change };
}

async function said(tts: TextToSpeech, text: string, options: Partial<SpeakOptions> = {}) {
  const words: TimedWord[] = [];
  let ms = 0;
  for await (const part of tts.speak(text, { signal, previousText: "", ...options }))
    if (isAudio(part)) ms += frameMs(part);
    else words.push(...part.words);
  return { ms, words };
}

async function collect<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

function speech(ms: number): AudioFrame {
  return { samples: new Int16Array(samplesIn(ms, 16_000)).fill(1_000), sampleRateHz: 16_000 };
}

test("openai: an answer comes in pieces, with the tokens it cost", async () => {
  await using service = await startOpenAi({ answer: () => "It is warm in Rome today." });
  const llm = openai.llm({ apiKey: "sk-test", baseUrl: service.url, temperature: 0.3 });
  const parts = await collect(llm.respond(ask()));
  const texts = parts.filter((part) => typeof part === "string");
  assert.equal(texts.join(""), "It is warm in Rome today.");
  assert.ok(texts.length > 2);
  assert.deepEqual(parts.at(-1), { type: "usage", inputTokens: 11, outputTokens: 7 });
  assert.deepEqual([service.chats[0]?.model, service.chats[0]?.temperature], ["gpt-4o-mini", 0.3]);
  assert.deepEqual(service.refused, []);
});

test("openai: tools are declared, called in parallel and answered", async () => {
  await using service = await startOpenAi({
    answer: ({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? "Warm."
        : [
            { name: "weather", arguments: { city: "Rome" } },
            { name: "weather", arguments: { city: "Oslo" } },
          ],
  });
  const llm = openai.llm({ apiKey: "sk-test", baseUrl: service.url });
  const calls = (await collect(llm.respond(ask({ tools: [weather] })))).filter(
    (part) => typeof part !== "string" && part.type === "tool-call",
  );
  assert.deepEqual(
    calls.map((call) => [call.name, JSON.parse(call.arguments)]),
    [
      ["weather", { city: "Rome" }],
      ["weather", { city: "Oslo" }],
    ],
  );
  const messages = [
    { role: "user" as const, content: "Hello" },
    { role: "assistant" as const, content: "", toolCalls: calls },
    ...calls.map(({ id, name }) => ({ role: "tool" as const, callId: id, name, content: "25" })),
  ];
  const [answer] = await collect(llm.respond(ask({ messages, tools: [weather] })));
  assert.equal(answer, "Warm.");
  assert.deepEqual(service.refused, []);
});

test("openai: speech is heard and made, whatever pieces it comes in", async () => {
  await using service = await startOpenAi({ hear: (audio) => `${Math.round(frameMs(audio))} ms` });
  const account = { apiKey: "sk-test", baseUrl: service.url };
  const stt = await openai
    .stt({ ...account, language: "en" })
    .open({ sampleRateHz: 16_000, signal, partial: () => undefined });
  stt.write(speech(300));
  stt.write(speech(200));
  assert.equal(await stt.flush(), "500 ms");
  assert.equal(await stt.flush(), "", "nothing is asked for nothing");
  assert.deepEqual(service.transcribed[0]?.fields, {
    model: "gpt-4o-mini-transcribe",
    response_format: "json",
    language: "en",
  });
  const { ms } = await said(openai.tts({ ...account, voice: "verse" }), "Hello there");
  assert.equal(ms, 11 * 40);
  assert.deepEqual([service.spoken, service.refused], [["Hello there"], []]);
});

test("a wrong key, a failing service and one that is not there are told apart, and no key is told", async () => {
  await using service = await startOpenAi();
  const problem = async (llm: {
    respond(request: LanguageModelRequest): AsyncIterable<unknown>;
  }): Promise<ServiceError> => {
    const failure: unknown = await collect(llm.respond(ask())).then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(failure instanceof ServiceError, String(failure));
    return failure;
  };
  const wrong = await problem(openai.llm({ apiKey: "sk-wrong", baseUrl: service.url }));
  assert.match(wrong.message, /^OpenAI answered 401: is its key right/);
  assert.doesNotMatch(wrong.message, /sk-wrong/);
  assert.match(wrong.answer, /Incorrect API key/);
  await using failing = await startOpenAi({ isFailing: true });
  const other = openaiCompatible({ baseUrl: failing.url, name: "My server" });
  assert.match((await problem(other.llm({ model: "m" }))).message, /^My server answered 500$/);
  const nowhere = openaiCompatible({ baseUrl: "http://127.0.0.1:9/v1" }).llm({ model: "m" });
  assert.match((await problem(nowhere)).message, /^127.0.0.1:9 cannot be reached$/);
});

test("a missing key says which", () => {
  for (const [make, variable] of [
    [() => openai.llm({ apiKey: "" }), "OPENAI_API_KEY"],
    [() => deepgram.stt({ apiKey: "" }), "DEEPGRAM_API_KEY"],
    [() => elevenlabs.tts({ apiKey: "" }), "ELEVENLABS_API_KEY"],
    [() => cartesia.tts({ apiKey: "" }), "CARTESIA_API_KEY"],
  ] as const)
    assert.throws(make, new RegExp(`Set ${variable}`));
});

test("deepgram: words come while they are said, and at once when asked for", async () => {
  await using service = await startDeepgram({ hear: (ms) => (ms < 400 ? "a table" : "a table for two.") });
  const partials: string[] = [];
  const session = new AbortController();
  const stt = await deepgram
    .stt({ apiKey: "dg-test", baseUrl: service.url, keyterms: ["table"] })
    .open({ sampleRateHz: 16_000, signal: session.signal, partial: (text) => void partials.push(text) });
  for (let piece = 0; piece < 40; piece += 1) stt.write(speech(20));
  await until(() => partials.length > 0, 5_000, "words");
  assert.equal(await stt.flush(), "a table for two.");
  assert.equal(partials[0], "a table");
  for (let piece = 0; piece < 20; piece += 1) stt.write(speech(20));
  assert.equal(await stt.flush(), "a table for two.", "the second turn has its own words only");
  const [connection] = service.connections;
  assert.equal(connection?.bytes, 60 * 640);
  assert.equal(connection.parameters.get("keyterm"), "table");
  session.abort();
  await until(() => connection.controls.at(-1) === "CloseStream", 2_000, "the end");
  assert.deepEqual(service.refused, []);
});

test("deepgram: a connection that is lost fails one turn and is opened again for the next", async () => {
  await using service = await startDeepgram({ hear: () => "hello" });
  const stt = await deepgram
    .stt({ apiKey: "dg-test", baseUrl: service.url })
    .open({ sampleRateHz: 16_000, signal, partial: () => undefined });
  stt.write(speech(100));
  assert.equal(await stt.flush(), "hello");
  service.drop();
  await assert.rejects(
    until(
      async () => {
        await stt.flush();
        return false;
      },
      5_000,
      "failure",
    ),
    /Deepgram closed the connection/,
  );
  stt.write(speech(100));
  assert.equal(await stt.flush(), "hello");
  assert.equal(service.connections.length, 2);
  stt.close?.();
});

test("deepgram: a refused key is a failure that says so; its voices speak", async () => {
  await using service = await startDeepgram({ hear: () => "" });
  const stt = await deepgram
    .stt({ apiKey: "wrong", baseUrl: service.url })
    .open({ sampleRateHz: 16_000, signal, partial: () => undefined });
  stt.write(speech(100));
  await assert.rejects(stt.flush(), /Deepgram answered 401/);
  stt.close?.();
  const { ms } = await said(deepgram.tts({ apiKey: "dg-test", baseUrl: service.url }), "Hello");
  assert.equal(ms, 200);
  assert.deepEqual(service.spoken, ["Hello"]);
});

test("elevenlabs: speech comes with the time of each word", async () => {
  await using service = await startElevenLabs();
  const tts = elevenlabs.tts({ apiKey: "xi-test", baseUrl: service.url, voice: "abc", language: "en" });
  const { ms, words } = await said(tts, "A table for two, of course.", { previousText: "Yes." });
  assert.equal(ms, 27 * 50);
  assert.equal(words.map(({ text }) => text).join(""), "A table for two, of course.");
  assert.deepEqual(words[3], { text: "two, ", startMs: 600, endMs: 850 });
  assert.deepEqual(service.asked, [
    {
      text: "A table for two, of course.",
      model_id: "eleven_flash_v2_5",
      previous_text: "Yes.",
      language_code: "en",
      voice: "abc",
    },
  ]);
  assert.deepEqual(service.refused, []);
});

test("cartesia: sentences share a connection, and one that is cut is cancelled", async () => {
  await using service = await startCartesia();
  const tts = cartesia.tts({ apiKey: "ca-test", baseUrl: service.url });
  const [first, second] = await Promise.all([said(tts, "one two three"), said(tts, "four five")]);
  assert.deepEqual([first.ms, second.ms], [300, 200]);
  assert.deepEqual(first.words[1], { text: "two ", startMs: 100, endMs: 200 });
  assert.equal(service.connections, 1);
  const cut = new AbortController();
  const cutting = said(tts, "an endless one", { signal: cut.signal });
  await until(() => service.spoken.length === 3, 2_000, "the sentence");
  cut.abort();
  await within(cutting, 2_000, "end of the sentence");
  await until(() => service.cancelled.length === 1, 2_000, "cancellation");
  await assert.rejects(said(tts, "forbidden"), /Cartesia refused a sentence/);
  await assert.rejects(
    said(cartesia.tts({ apiKey: "x", baseUrl: service.url }), "hi"),
    /Cartesia answered 401/,
  );
  assert.equal(service.connections, 1);
});
