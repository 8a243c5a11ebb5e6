import type { BotCapabilities, RtviMessage } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRtviSession, type SentFile } from "./rtvi-session.ts";

const ABOUT = { library: "vocalhost", library_version: "1.2.3" };

test("a greeting is answered under its id, with our version", () => {
  const { greet, sent } = start();
  greet("a1b2c3d4", { version: "2.2.0", about: { library: "x" } });
  assert.deepEqual(sent, [
    { label: "rtvi-ai", type: "bot-ready", id: "a1b2c3d4", data: { version: "2.2.0", about: ABOUT } },
  ]);
});

test("an older client of our major version is told our version", () => {
  const { greet, sent } = start();
  greet("1", { version: "2.0.0" });
  assert.deepEqual(types(sent), ["bot-ready 2.2.0"]);
});

test("a client of version 1 is told its own version and served in its format", () => {
  const { greet, session, sent } = start();
  greet("1", { version: "1.3.0" });
  assert.deepEqual(types(sent), ["bot-ready 1.3.0"]);
  session.botOutput("Hi");
  assert.deepEqual(sent.at(-1)?.data, { text: "Hi", aggregated_by: "sentence", spoken: false });
});

test("a version we do not know is remarked on and served all the same", () => {
  for (const [data, remark] of [
    [{ version: "3.0.0" }, /^{"error":"RTVI version 3\.0\.0 is not compatible/],
    [{ version: "2.x" }, /^{"error":"Invalid client version format \(2\.x\)/],
    [{ version: 2 }, /^{"error":"Client version unknown/],
    [{}, /^{"error":"Client version unknown/],
    [undefined, /^{"error":"Client version unknown/],
    ["hello", /^{"error":"Client version unknown/],
  ] as const) {
    const { greet, sent } = start();
    greet("7", data);
    assert.deepEqual(types(sent), ["error-response", "bot-ready 2.2.0"]);
    assert.ok(sent.every(({ id }) => id === "7"));
    assert.match(JSON.stringify(sent[0]?.data), remark);
  }
});

test("every greeting is answered, also after a reconnect with another version", () => {
  const { greet, session, sent } = start();
  greet("1", { version: "2.2.0" });
  greet("2", { version: "2.2.0" });
  greet("3", { version: "1.0.0" });
  greet("4", { version: "2.2.0" });
  assert.deepEqual(
    sent.map(({ id, data }) => [id, (data as { version: string }).version]),
    [
      ["1", "2.2.0"],
      ["2", "2.2.0"],
      ["3", "1.0.0"],
      ["4", "2.2.0"],
    ],
  );
  session.botOutput("Hi");
  assert.match(JSON.stringify(sent.at(-1)?.data), /"segment_id":1/);
});

test("a bot that says itself when it is ready lets clients wait, each with its version", () => {
  const { greet, session, sent } = start({ autoReady: false });
  greet("1", { version: "2.2.0" });
  greet("2", { version: "1.0.0" });
  assert.deepEqual(sent, []);
  session.botReady();
  assert.deepEqual(types(sent), ["bot-ready 2.2.0", "bot-ready 1.0.0"]);
  session.botReady();
  assert.equal(sent.length, 2);
  greet("3", { version: "2.2.0" });
  assert.deepEqual(types(sent).slice(2), ["bot-ready 2.2.0"]);
});

test("a bot that is ready before anybody greets answers the greeting", () => {
  const { greet, session, sent } = start({ autoReady: false });
  session.botReady();
  assert.deepEqual(sent, []);
  greet("1", { version: "2.2.0" });
  assert.deepEqual(types(sent), ["bot-ready 2.2.0"]);
});

test("greetings of a client that never stops are not all kept", () => {
  const { greet, session, sent } = start({ autoReady: false });
  for (let at = 0; at < 100; at += 1) greet(String(at), { version: "2.2.0" });
  session.botReady();
  assert.equal(sent.length, 8);
});

test("the bot hears of the greeting before it is answered", () => {
  const { greet, session, sent } = start();
  session.on("client-ready", ({ version, about }) => {
    assert.deepEqual({ version, about }, { version: "2.2.0", about: { library: "x" } });
    session.serverMessage("first");
  });
  greet("1", { version: "2.2.0", about: { library: "x" } });
  assert.deepEqual(types(sent), ["server-message", "bot-ready 2.2.0"]);
});

test("the client application's request is answered under its id", () => {
  const { receive, session, sent } = start();
  session.on("client-message", (request) => {
    if (request.type === "add") request.respond((request.data as number) + 1);
    else if (request.type === "nothing") request.respond();
    else request.refuse(`What is ${request.type}?`);
  });
  receive({ id: "1", type: "client-message", data: { t: "add", d: 41 } });
  receive({ id: "2", type: "client-message", data: { t: "nothing" } });
  receive({ id: "3", type: "client-message", data: { t: "fly" } });
  assert.deepEqual(sent, [
    { label: "rtvi-ai", type: "server-response", id: "1", data: { t: "add", d: 42 } },
    { label: "rtvi-ai", type: "server-response", id: "2", data: { t: "nothing" } },
    { label: "rtvi-ai", type: "error-response", id: "3", data: { error: "What is fly?" } },
  ]);
});

test("a request without a listener is refused instead of timing out", () => {
  const { receive, sent } = start();
  receive({ id: "1", type: "client-message", data: { t: "add" } });
  assert.deepEqual(types(sent), ["error-response"]);
  assert.equal(sent[0]?.id, "1");
});

test("what clients send reaches the bot", () => {
  const result = { function_name: "f", tool_call_id: "1", result: "ok" };
  check("send-text", {
    data: { content: "hi" },
    event: "send-text",
    heard: { content: "hi", runImmediately: true, audioResponse: true },
  });
  check("send-text", {
    data: { content: "hi", options: { run_immediately: false, audio_response: false } },
    event: "send-text",
    heard: { content: "hi", runImmediately: false, audioResponse: false },
  });
  check("dtmf", { data: { buttons: ["1", "#"] }, event: "dtmf", heard: ["1", "#"] });
  check("dtmf", { data: { button: "*" }, event: "dtmf", heard: ["*"] });
  check("llm-function-call-result", { data: result, event: "function-call-result", heard: result });
  check("ui-event", { data: { event: "x" }, event: "ui-event", heard: { event: "x" } });
  check("ui-snapshot", { data: { tree: {} }, event: "ui-snapshot", heard: { tree: {} } });
  check("ui-cancel-job-group", {
    data: { job_id: "1" },
    event: "ui-cancel-job-group",
    heard: { job_id: "1" },
  });
  check("append-to-context", {
    data: { role: "user", content: "x" },
    event: "append-to-context",
    heard: { role: "user", content: "x" },
  });
});

test("a deprecated message without a listener is unsupported", () => {
  const { receive, sent } = start();
  receive({ id: "1", type: "append-to-context", data: { role: "user", content: "x" } });
  assert.deepEqual(sent[0]?.data, { error: "Unsupported type append-to-context" });
});

test("messages that make no sense are answered, not obeyed", () => {
  const cases: [object, string, RegExp][] = [
    [{ id: "1", type: "describe-config" }, "error-response", /^Unsupported type describe-config$/],
    [{ id: "1", type: "toString" }, "error-response", /^Unsupported type toString$/],
    [{ id: "1", type: "dtmf", data: { buttons: ["x"] } }, "error-response", /^Invalid message: /],
    [{ id: "1", type: "client-message" }, "error-response", /^Invalid message: /],
    [{ id: "1", type: "send-text", data: { content: 5 } }, "error-response", /^Invalid message: content: /],
    [{ id: "1" }, "error", /^Invalid RTVI transport message: type: /],
    [{ id: 1, type: "dtmf" }, "error", /^Invalid RTVI transport message: id: /],
  ];
  for (const [message, type, text] of cases) {
    const { receive, sent } = start();
    receive(message);
    assert.equal(sent.length, 1);
    assert.equal(sent[0]?.type, type);
    assert.equal(sent[0].id, type === "error-response" ? "1" : undefined);
    assert.match((sent[0].data as { error: string }).error, text);
    if (type === "error") assert.equal((sent[0].data as { fatal: boolean }).fatal, false);
  }
});

test("what has not our label is not ours to judge", () => {
  const { endpoint, sent } = start();
  for (const message of [
    { label: "other", type: "client-ready" },
    { type: "dtmf" },
    "rtvi-ai",
    7,
    null,
    undefined,
    [],
  ])
    endpoint.receive(message);
  assert.deepEqual(sent, []);
});

test("a client may end the session", () => {
  const { receive, calls } = start();
  receive({ id: "1", type: "disconnect-bot", data: {} });
  assert.deepEqual(calls, ["disconnect"]);
});

test("audio recorded before the connection was up is heard", () => {
  const { receive, audio } = start();
  const samples = (...values: number[]) => Buffer.from(Int16Array.from(values).buffer).toString("base64");
  receive({
    id: "1",
    type: "raw-audio",
    data: { base64Audio: samples(1, -2), sampleRate: 16_000, numChannels: 1 },
  });
  receive({
    id: "2",
    type: "raw-audio-batch",
    data: { base64AudioBatch: [samples(3), samples(4, 5)], sampleRate: 24_000, numChannels: 1 },
  });
  receive({
    id: "3",
    type: "raw-audio",
    data: { base64Audio: samples(6, 7), sampleRate: 16_000, numChannels: 2 },
  });
  receive({ id: "4", type: "raw-audio", data: { base64Audio: "AQAC", sampleRate: 16_000, numChannels: 1 } });
  assert.deepEqual(audio, [
    { samples: [1, -2], sampleRateHz: 16_000 },
    { samples: [3], sampleRateHz: 24_000 },
    { samples: [4, 5], sampleRateHz: 24_000 },
    { samples: [1], sampleRateHz: 16_000 }, // half a sample is none
  ]);
});

test("events have no id, and no data where there is none", () => {
  const { session, sent } = start();
  session.userStartedSpeaking();
  session.userStoppedSpeaking();
  session.botInterrupted();
  session.serverMessage({ a: 1 });
  session.metrics({ ttfb: [{ processor: "llm", value: 0.4 }] });
  session.error("Oh");
  session.error("No", { fatal: true });
  session.send("bot-llm-text", { text: "x" });
  session.send("bot-llm-started", undefined);
  assert.deepEqual(
    sent,
    [
      { type: "user-started-speaking" },
      { type: "user-stopped-speaking" },
      { type: "bot-interrupted" },
      { type: "server-message", data: { a: 1 } },
      { type: "metrics", data: { ttfb: [{ processor: "llm", value: 0.4 }] } },
      { type: "error", data: { error: "Oh", fatal: false } },
      { type: "error", data: { error: "No", fatal: true } },
      { type: "bot-llm-text", data: { text: "x" } },
      { type: "bot-llm-started" },
    ].map((message) => ({ label: "rtvi-ai", ...message })),
  );
});

test("an error of the client is answered with none: two that do not understand each other must stop", () => {
  const { receive, session, sent } = start();
  const told: unknown[] = [];
  session.on("error-response", (problem) => void told.push(problem));
  receive({ id: "1", type: "error-response", data: { error: "Unsupported type ui-command" } });
  receive({ id: "2", type: "error-response" });
  receive({ type: "error", data: { error: 5 } });
  assert.deepEqual(sent, []);
  assert.deepEqual(told, [
    { id: "1", error: "Unsupported type ui-command" },
    { id: "2", error: "" },
    { id: "", error: "" },
  ]);
});

test("what a bot can do is told with bot-ready", () => {
  const files = { formats: ["image/png"], sources: ["bytes" as const], maxSize: 1_000 };
  const { greet, sent } = start({ capabilities: { files } });
  greet("1", { version: "2.2.0" });
  const { capabilities } = sent[0]!.data as { capabilities?: unknown };
  assert.deepEqual(capabilities, { files });
});

test("a file comes with its words, and what is in it can be read", async () => {
  const { receive, session, sent } = start();
  const data = {
    content: "what is this?",
    file: { name: "a.txt", format: "text/plain", source: { type: "bytes", bytes: "aGVsbG8=" } },
  };
  receive({ id: "1", type: "send-file", data });
  assert.deepEqual(sent[0]?.data, { error: "This bot does not take files" });
  const files: SentFile[] = [];
  session.on("send-file", (file) => void files.push(file));
  receive({ id: "2", type: "send-file", data: { ...data, options: { run_immediately: false } } });
  const [file] = files;
  assert.deepEqual(
    [file?.content, file?.name, file?.format, file?.runImmediately, file?.audioResponse],
    ["what is this?", "a.txt", "text/plain", false, true],
  );
  assert.equal(Buffer.from(await file!.read()).toString(), "hello");
  for (const source of [
    { type: "url", url: "http://169.254.169.254/" },
    { type: "id", id: "vocalhost:../../etc/passwd" },
  ])
    receive({ id: "3", type: "send-file", data: { content: "", file: { format: "x", source } } });
  await assert.rejects(files[1]!.read(), /fetch source.url only if you trust it/);
  await assert.rejects(files[2]!.read(), /no such upload/);
  receive({ id: "4", type: "send-file", data: { content: "", file: { format: "x", source: {} } } });
  assert.match(JSON.stringify(sent.at(-1)), /"id":"4".*Invalid message: file.source/);
});

test("speech as it was made goes in messages that a data channel takes", () => {
  const { session, sent } = start();
  const samples = Int16Array.from({ length: 30_000 }, (_, at) => at);
  session.botTtsAudio({ samples, sampleRateHz: 24_000 });
  assert.ok(sent.every((message) => JSON.stringify(message).length < 64 * 1024));
  const audio = sent.map(({ data }) => (data as { audio: string }).audio);
  const bytes = Buffer.concat(audio.map((part) => Buffer.from(part, "base64")));
  assert.deepEqual([bytes.length, bytes.readInt16LE(2 * 29_999)], [60_000, 29_999]);
  assert.deepEqual(
    { ...(sent[0]?.data as object), audio: "" },
    { audio: "", sample_rate: 24_000, num_channels: 1 },
  );
});

test("a transcription says when and who", () => {
  const { session, sent } = start();
  session.userTranscription({ text: "hi", final: false });
  session.userTranscription({ text: "hi there", final: true, userId: "ann" });
  const [interim, final] = sent.map(({ data }) => data as Record<string, unknown>);
  assert.equal(interim?.["user_id"], "user");
  assert.equal(final?.["user_id"], "ann");
  assert.deepEqual([interim?.["final"], final?.["final"]], [false, true]);
  assert.match(String(final?.["timestamp"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

interface StartOptions {
  autoReady?: boolean;
  capabilities?: BotCapabilities;
}

interface Check {
  data: unknown;
  event: Parameters<ReturnType<typeof createRtviSession>["session"]["on"]>[0];
  heard: unknown;
}

function check(type: string, { data, event, heard }: Check): void {
  const { receive, session, sent } = start();
  const events: unknown[] = [];
  session.on(event, (value: unknown) => void events.push(value));
  receive({ id: "1", type, data });
  assert.deepEqual(events, [heard], type);
  assert.deepEqual(sent, [], type);
}

function start({ autoReady = true, capabilities }: StartOptions = {}) {
  const sent: RtviMessage[] = [];
  const audio: { samples: number[]; sampleRateHz: number }[] = [];
  const calls: string[] = [];
  const endpoint = createRtviSession({
    autoReady,
    capabilities,
    about: ABOUT,
    send: (message) => void sent.push(message),
    audio: (samples, sampleRateHz) => void audio.push({ samples: [...samples], sampleRateHz }),
    disconnect: () => void calls.push("disconnect"),
  });
  const receive = (message: object): void => endpoint.receive({ label: "rtvi-ai", ...message });
  return {
    endpoint,
    session: endpoint.session,
    sent,
    audio,
    calls,
    receive,
    greet: (id: string, data: unknown) =>
      receive({ id, type: "client-ready", ...(data === undefined ? {} : { data }) }),
  };
}

/** Lists the types of messages; with the version of a `bot-ready`. */
function types(messages: RtviMessage[]): string[] {
  return messages.map(({ type, data }) =>
    type === "bot-ready" ? `${type} ${(data as { version: string }).version}` : type,
  );
}
