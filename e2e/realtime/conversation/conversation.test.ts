// The same scripted conversation over every kind of connection: answers, interruptions, back-channels, tools.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { size } from "../../../testing/sizes.ts";
import { eventually, pause } from "../../../testing/wait.ts";
import { freePeerClients } from "../../harness/peer-client.ts";
import { call } from "../../harness/raw-http.ts";
import { startRunnerProcess } from "../../harness/runner-process.ts";
import { overPhone, overWebRtc, overWebSocket, type OpenCaller } from "./callers.ts";
import {
  FORECAST,
  GO_ON,
  QUESTION,
  STOP,
  STOPPED,
  STORY,
  WEATHER,
  type ConversationRecord,
} from "./script.ts";

const INTERRUPTIONS = size(1, 10);
const TOOL_CALLS = size(1, 2);
const RECORDS = size(undefined, new URL("../../node_modules/.cache/conversations/", import.meta.url));
const STORIES = size(1, 22); // heard to the end, 8 s each: five minutes in all

const callers: [string, OpenCaller][] = [
  ["WebSocket", overWebSocket],
  ["WebRTC", overWebRtc],
  ["a simulated phone call", overPhone],
];

describe("a scripted conversation", { concurrency: true }, async () => {
  const runner = await startRunnerProcess({ bot: "e2e/bots/conversation-bot.ts" });
  after(async () => {
    await runner[Symbol.asyncDispose]();
    freePeerClients();
  });
  let taken = 0;

  for (const [name, open] of callers)
    test(`over ${name}`, async (context) => {
      const record = await openRecord();
      {
        await using caller = await open(runner.port);
        for (let round = 0; round < INTERRUPTIONS; round += 1) {
          await caller.say(QUESTION);
          await happened(record, (events) => events.at(-1) === "speaks", "the story");
          await pause(600);
          await caller.say(STOP);
          await happened(
            record,
            (events) => count(events, `bot: ${STOPPED}`) === round + 1,
            "the end of the story",
          );
        }
        for (let round = 0; round < TOOL_CALLS; round += 1) {
          await caller.say(WEATHER);
          await happened(record, (events) => count(events, `bot: ${FORECAST}`) === round + 1, "the weather");
        }
        for (let round = 0; round < STORIES; round += 1) {
          await caller.say(QUESTION);
          await happened(record, (events) => events.at(-1) === "speaks", "the story");
          await pause(600);
          await caller.say(GO_ON);
          await happened(
            record,
            (events) => count(events, `bot: ${STORY}`) === round + 1,
            "a whole story",
            30_000,
          );
        }
      }
      const { events, messages, figures, errors } = keep(name, await record());
      assert.deepEqual(errors, []);
      const cut = events.filter((event) => event.startsWith("cut: "));
      assert.equal(cut.length, INTERRUPTIONS);
      for (const event of cut) {
        const heard = event.slice("cut: ".length);
        assert.ok(heard.length > 0 && heard.length < STORY.length && STORY.startsWith(heard), heard);
      }
      assert.equal(count(events, `goes on after: ${GO_ON}`), STORIES);
      // The context is what was heard, in order, and every call has its result.
      const expected = [
        ...cut.flatMap((event) => [QUESTION, event.slice("cut: ".length), STOP, STOPPED]),
        ...Array.from({ length: TOOL_CALLS }, () => [WEATHER, "", "Rome: 25", FORECAST]).flat(),
        ...Array.from({ length: STORIES }, () => [QUESTION, STORY]).flat(),
      ];
      assert.deepEqual(
        messages.map(({ content }) => content),
        expected,
      );
      assert.equal(
        figures.reduce((sum, { toolCalls }) => sum + toolCalls, 0),
        TOOL_CALLS,
      );
      const answersMs = figures.map(({ firstAudioMs = 0 }) => firstAudioMs).toSorted((a, b) => a - b);
      context.diagnostic(
        `${figures.length} answers, from the last word to the first sound: median ${Math.round(answersMs[answersMs.length >> 1]!)} ms, ` +
          `longest ${Math.round(answersMs.at(-1)!)} ms`,
      );
    });

  /** Sessions begin in the order in which callers come: one after the other. */
  async function openRecord(): Promise<() => Promise<ConversationRecord>> {
    const place = taken;
    taken += 1;
    const all = async (): Promise<ConversationRecord[]> =>
      (await call(runner.port, "GET /conversations")).json() as ConversationRecord[];
    await eventually({
      what: "the session before",
      look: async () => (await all()).length,
      until: (n) => n >= place,
    });
    return async () =>
      eventually({
        what: "the session",
        look: async () => (await all())[place],
        until: (record) => record !== undefined,
      }) as Promise<ConversationRecord>;
  }
});

/** The transcript of the long conversation, to be read afterwards. */
function keep(name: string, record: ConversationRecord): ConversationRecord {
  if (!RECORDS) return record;
  mkdirSync(RECORDS, { recursive: true });
  writeFileSync(new URL(`${name.replaceAll(" ", "-")}.json`, RECORDS), JSON.stringify(record, undefined, 2));
  return record;
}

function count(events: string[], event: string): number {
  return events.filter((one) => one === event).length;
}

async function happened(
  record: () => Promise<ConversationRecord>,
  until: (events: string[]) => boolean,
  what: string,
  quietMs = 15_000,
): Promise<void> {
  await eventually({ what, look: async () => (await record()).events, until, quietMs });
}
