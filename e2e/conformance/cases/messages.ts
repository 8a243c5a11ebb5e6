import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { eventually } from "../../../testing/wait.ts";
import type { Caller } from "../caller.ts";

const LARGE_CHARACTERS = 50_000; // with its envelope still under the 64 KiB a data channel takes
const BURST_MESSAGES = 200;

/** Messages over one open connection. */
export async function messageSteps(context: TestContext, caller: Caller): Promise<void> {
  await context.test("messages, requests and refusals", async () => {
    await caller.send("note", { word: "café" });
    assert.deepEqual((await caller.report()).notes, [{ word: "café" }]);
    assert.deepEqual(await caller.request("repeat", { list: [1, null, "two"] }), { list: [1, null, "two"] });
    const refusal = await caller.page.evaluate(() =>
      window.callerPage.client.sendClientRequest("refuse", {}).then(
        () => undefined,
        (message: { type: string; data: unknown }) => ({ type: message.type, data: message.data }),
      ),
    );
    assert.deepEqual(refusal, { type: "error-response", data: { error: "The bot refuses" } });
  });

  await context.test("large messages and many messages arrive whole and in order", async () => {
    const large = "0123456789".repeat(LARGE_CHARACTERS / 10);
    assert.equal(await caller.request("repeat", large), large);
    await caller.send("count", BURST_MESSAGES);
    const counted = await eventually({
      what: "all messages of a burst arrive",
      look: () => caller.events<{ count: number }>("serverMessage"),
      until: (messages) => messages.length >= BURST_MESSAGES,
    });
    assert.deepEqual(
      counted.map((message) => message.count),
      Array.from({ length: BURST_MESSAGES }, (_, at) => at + 1),
    );
  });

  await context.test("text, keys and interface events reach the bot", async () => {
    await caller.page.evaluate(async () => {
      const { client } = window.callerPage;
      await client.sendText("hello");
      await client.sendText("only remember this", { run_immediately: false, audio_response: false });
      client.sendDTMF("12#");
      client.sendUIEvent("clicked", { button: "order" });
    });
    const report = await caller.report();
    assert.deepEqual(report.texts, [
      { content: "hello", runImmediately: true, audioResponse: true },
      { content: "only remember this", runImmediately: false, audioResponse: false },
    ]);
    assert.equal(report.keys, "12#");
    assert.deepEqual(report.uiEvents, [{ event: "clicked", payload: { button: "order" } }]);
  });

  await context.test("a message of an unsupported type is answered with an error", async () => {
    const before = (await caller.events("messageError")).length;
    await caller.page.evaluate(() =>
      window.callerPage.client.appendToContext({ role: "user", content: "remember this" }),
    );
    const error = await eventually({
      what: "the client is told of the error",
      look: async () => (await caller.events<{ type: string; data: unknown }>("messageError"))[before],
      until: (seen) => seen !== undefined,
    });
    assert.equal(error?.type, "error-response");
    assert.deepEqual(error?.data, { error: "Unsupported type append-to-context" });
    assert.equal(await caller.state(), "ready");
  });

  await context.test("everything a bot tells about a turn becomes an event", async () => {
    await caller.send("perform");
    const { functionResults } = await eventually({
      what: "the client's function is called and the bot gets its result",
      look: () => caller.report(),
      until: (report) => report.functionResults.length > 0,
    });
    assert.deepEqual(functionResults, [
      {
        function_name: "time_zone",
        tool_call_id: "call-1",
        arguments: { city: "Paris" },
        result: { zone: "Europe/Paris" },
      },
    ]);
    const events = await caller.page.evaluate(() => window.callerPage.events.map(({ name }) => name));
    assert.deepEqual(events.slice(events.indexOf("userStartedSpeaking")), PERFORMED_EVENTS);
    const transcripts = await caller.events<{ text: string; final: boolean; user_id: string }>(
      "userTranscript",
    );
    assert.deepEqual(
      transcripts.map(({ text, final, user_id }) => ({ text, final, user_id })),
      [
        { text: "what is", final: false, user_id: "user" },
        { text: "what is the time", final: true, user_id: "guest" },
      ],
    );
    assert.deepEqual(await caller.events("botOutput"), PERFORMED_OUTPUT);
    assert.deepEqual(await caller.events("metrics"), [
      {
        ttfb: [{ processor: "clock", value: 0.25 }],
        ttfat: [{ processor: "voice", value: 0.5 }],
        tokens: [{ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, reasoning_tokens: 1 }],
        stt_usage: [{ processor: "ear", value: 1.5 }],
      },
    ]);
    const [error] = await caller.events<{ data: unknown }>("error");
    assert.deepEqual(error?.data, { error: "The clock is slow", fatal: false });
    assert.equal(await caller.state(), "ready");
  });
}

const PERFORMED_EVENTS = [
  "userStartedSpeaking",
  "userTranscript",
  "userTranscript",
  "userStoppedSpeaking",
  "botLlmStarted",
  "botLlmText",
  "botLlmStopped",
  "botOutput",
  "botOutput",
  "botOutput",
  "botOutput",
  "metrics",
  "llmFunctionCallInProgress",
  "error",
  "serverMessage",
];

const sentence = { text: "It is noon.", aggregated_by: "sentence", segment_id: 1, will_be_spoken: true };
const PERFORMED_OUTPUT = [
  {
    ...sentence,
    spoken_status: "new",
    spoken_progress: { accumulated_text: "", remaining_text: "It is noon." },
  },
  {
    ...sentence,
    spoken_status: "in-progress",
    spoken_progress: { accumulated_text: "It is", remaining_text: " noon." },
  },
  {
    ...sentence,
    spoken_status: "completed",
    spoken_progress: { accumulated_text: "It is noon.", remaining_text: "" },
  },
  { text: "12:00", aggregated_by: "code", segment_id: 2, will_be_spoken: false },
];
