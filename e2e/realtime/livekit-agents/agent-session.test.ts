// An `AgentSession` of `@livekit/agents` over every kind of connection: answers, interruptions, pauses, the end.
import { dispose } from "@livekit/rtc-node";
import { FRAME_MS } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import {
  COUGH,
  FAREWELL,
  GOODBYE,
  PHRASES,
  QUESTION,
  RIDDLE,
  STOP,
  STOPPED,
  STORY,
  type SessionRecord,
} from "../../../packages/livekit-agents/src/testing/agent-script.ts";
import { eventually, pause, until } from "../../../testing/wait.ts";
import { overPhone, overWebRtc, overWebSocket, type OpenCaller } from "../conversation/callers.ts";
import { PHRASES as SPOKEN } from "../conversation/script.ts";
import { isMostly } from "../../conformance/tone.ts";
import { freePeerClients } from "../../harness/peer-client.ts";
import { call } from "../../harness/raw-http.ts";
import { startRunnerProcess } from "../../harness/runner-process.ts";
import { openSocket, type SocketClient } from "../../harness/socket-client.ts";
import { joinFromNode } from "../rooms/node-attendee.ts";

const STORY_MS = STORY.length * 40; // as it is hummed
assert.deepEqual(PHRASES, SPOKEN.slice(0, PHRASES.length)); // the bot knows what the callers say
const HUM_HZ = 318;
const callers: [string, OpenCaller][] = [
  ["WebSocket", overWebSocket],
  ["WebRTC", overWebRtc],
  ["a simulated phone call", overPhone],
];

describe("an AgentSession without a room", { concurrency: true }, async () => {
  const runner = await startRunnerProcess({
    bot: "packages/livekit-agents/src/testing/agent-bot.ts",
    environment: { VOCALHOST_ROOM_PROVIDER: "embedded" },
  });
  after(async () => {
    await runner[Symbol.asyncDispose]();
    freePeerClients();
    await dispose(); // or rtc-node keeps the process
  });
  let taken = 0;

  for (const [name, open] of callers)
    test(`over ${name}`, async () => {
      const record = await nextRecord();
      {
        await using caller = await open(runner.port);
        await caller.say(QUESTION);
        await happened(record, "bot: speaking");
        await pause(500);
        await caller.say(STOP);
        await happened(record, "cut");
        await happened(record, "heard"); // that it stops

        await caller.say(QUESTION);
        await happened(record, "bot: speaking", 3);
        await pause(500);
        await caller.say(COUGH);
        await happened(record, "resumed");
        await happened(record, "heard", 2);
      }
      await happened(record, "ended: true");
      const { events, history, playbacks } = await record();
      assert.deepEqual(
        events.filter((event) => /^(?:error|user|closed|not)/.test(event)),
        [`user: ${QUESTION}`, `user: ${STOP}`, `user: ${QUESTION}`, "closed: participant_disconnected"],
      );
      // The history has what was heard of the first story, word for word, and all of the second.
      const said = history.filter(({ role }) => role === "assistant");
      const [cut, ...whole] = said.map(({ text }) => text);
      assert.ok(cut && cut.length < STORY.length && STORY.startsWith(cut), cut);
      assert.deepEqual(whole, [STOPPED, STORY]);
      assert.deepEqual(
        said.map(({ interrupted }) => interrupted),
        [true, false, false],
      );
      const [first, second, third] = playbacks.map(({ positionMs }) => positionMs);
      assert.ok(first! > 0 && first! < STORY_MS, `${first}`);
      // It is as long as what the history says was heard, give or take a word.
      assert.ok(Math.abs(first! - cut.length * 40) < 500, `${first} ms for "${cut}"`);
      assert.ok(Math.abs(second! - STOPPED.length * 40) < 50, `${second}`);
      assert.ok(Math.abs(third! - STORY_MS) < 150, `${third} of ${STORY_MS}`); // nothing is lost in a pause
    });

  test("what the client hears, reads and writes", async (context) => {
    const record = await nextRecord();
    using client = await openSocket(`ws://127.0.0.1:${runner.port}/ws-client`);
    const ask = asker(client);
    let heardMs: number | undefined;
    client.socket.on("message", () => {
      if (client.messages.at(-1)?.type === "bot-interrupted") heardMs ??= client.heardMs;
    });
    await happened(record, "bot: listening");
    ask(QUESTION);
    await until(() => client.heardMs > 600, 15_000, "story");
    ask(STOP);
    await happened(record, "cut");
    const [{ positionMs } = { positionMs: 0 }] = (await record()).playbacks;
    // A socket is sent ahead of what is played, by a cushion; between two reports time tells how far it has got.
    assert.ok(Math.abs(heardMs! - positionMs) < 500, `${heardMs} and ${positionMs}`);
    context.diagnostic(`${heardMs} ms received at the interruption, ${positionMs} ms reported`);
    await happened(record, "heard");
    client.socket.close();
    await happened(record, "ended: true");

    const types = client.messages.map(({ type }) => type);
    for (const type of [
      "bot-llm-text",
      "bot-tts-started",
      "bot-tts-text",
      "bot-interrupted",
      "user-llm-text",
    ])
      assert.ok(types.includes(type), type);
    const outputs = client.messages.filter(({ type }) => type === "bot-output");
    const completed = outputs
      .map(({ data }) => data as { text: string; spoken_status?: string })
      .filter(({ spoken_status }) => spoken_status === "completed");
    const spoken = client.messages.flatMap(({ type, data }) =>
      type === "bot-tts-text" ? [(data as { text: string }).text] : [],
    );
    const cut = (await record()).history.find(({ interrupted }) => interrupted);
    assert.equal(spoken.join(" "), `${cut?.text} ${STOPPED}`);
    // Only what was heard to its end is told to be complete.
    const sentences = completed.map(({ text }) => text);
    assert.equal(sentences.pop(), STOPPED);
    assert.ok(cut?.text.startsWith(sentences.join(" ")), sentences.join());
  });

  // The room's side uses another version of LiveKit's media library, in the same process.
  test("in a room", async () => {
    const record = await nextRecord();
    const started = await fetch(`${runner.url}/start`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ transport: "room" }),
    });
    const { roomUrl, token, sessionId } = (await started.json()) as Record<string, string>;
    const ann = await joinFromNode({ url: roomUrl!, token: token!, identity: "client", toneHz: 440 });
    await happened(record, "bot: listening");
    const question = { label: "rtvi-ai", id: "1", type: "send-text", data: { content: QUESTION } };
    await ann.send(JSON.stringify(question), { reliable: true });
    await happened(record, "bot: speaking");
    await eventually({
      what: "the bot's voice",
      look: () => ann.hear(`Bot-${sessionId!.slice(0, 8)}`),
      until: (tone) => isMostly(tone, HUM_HZ),
    });
    await ann.leave();
    await happened(record, "cut");
    await happened(record, "ended: true");
  });

  test("text answers text, and a tool lets the bot say its last words", async () => {
    const record = await nextRecord();
    using client = await openSocket(`ws://127.0.0.1:${runner.port}/ws-client`);
    const ask = asker(client);
    await happened(record, "bot: listening");
    ask(STOP, { audio_response: false });
    const { data } = await client.message("bot-output");
    assert.deepEqual(data, {
      text: STOPPED,
      aggregated_by: "sentence",
      segment_id: 1,
      will_be_spoken: false,
    });
    await eventually({
      what: "the answer",
      look: async () => (await record()).history.length,
      until: (length) => length === 2,
    });
    assert.equal(client.heardMs, 0);
    ask(GOODBYE);
    await client.closed();
    await happened(record, "ended: false");
    const { events, history, playbacks } = await record();
    assert.ok(events.includes("closed: user_initiated"), events.join());
    assert.equal(history.at(-1)?.text, FAREWELL);
    assert.deepEqual(playbacks, [{ positionMs: FAREWELL.length * 40, interrupted: false }]);
    assert.ok(client.heardMs > FAREWELL.length * 40 - FRAME_MS, `${client.heardMs}`);
  });

  test("a model that fails for good ends the session, and the client is told", async () => {
    const record = await nextRecord();
    using client = await openSocket(`ws://127.0.0.1:${runner.port}/ws-client`);
    await happened(record, "bot: listening");
    asker(client)(RIDDLE);
    await client.closed();
    assert.deepEqual((await client.message("error")).data, { error: "That breaks me", fatal: false });
    await happened(record, "closed: error");
    await runner.printed(/The agent session failed: That breaks me/);
  });

  /** Sessions begin in the order in which callers come: one after the other. */
  async function nextRecord(): Promise<() => Promise<SessionRecord>> {
    const place = taken;
    taken += 1;
    const all = async (): Promise<SessionRecord[]> =>
      (await call(runner.port, "GET /agent-sessions")).json() as SessionRecord[];
    await eventually({
      what: "the session before",
      look: async () => (await all()).length,
      until: (n) => n >= place,
    });
    return () =>
      eventually({
        what: "the session",
        look: async () => (await all())[place],
        until: (record) => record !== undefined,
      }) as Promise<SessionRecord>;
  }
});

function asker(client: SocketClient): (content: string, options?: object) => void {
  return (content, options) =>
    client.sendMessage({ label: "rtvi-ai", id: content, type: "send-text", data: { content, options } });
}

async function happened(record: () => Promise<SessionRecord>, event: string, times = 1): Promise<void> {
  await eventually({
    what: event,
    look: async () => (await record()).events,
    until: (events) => events.filter((one) => one === event).length >= times,
  });
}
