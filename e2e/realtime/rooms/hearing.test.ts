// Whom a bot in a room hears, and how quickly it can be interrupted.
import { dispose } from "@livekit/rtc-node";
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { eventually } from "../../../testing/wait.ts";
import { isMostly, isSilence } from "../../conformance/tone.ts";
import { startRunnerProcess, type RunnerProcess } from "../../harness/runner-process.ts";
import { joinFromNode, type NodeAttendee } from "./node-attendee.ts";

let runner: RunnerProcess;

before(async () => {
  runner = await startRunnerProcess({ bot: "e2e/bots/room-bot.ts" });
});

after(async () => {
  await runner?.[Symbol.asyncDispose]();
  await dispose(); // or rtc-node keeps the process
});

interface Place {
  sessionId: string;
  roomUrl: string;
  token: string;
}

test("each apart: the bot can listen to one of those who speak", async (context) => {
  const { ann, bot } = await inRoom(context, { hear: "each", guestsOnly: true });
  await ann.speak();
  const bob = await invite(context, bot, 1_000);
  await bob.speak();
  await hearsOnly(ann, bot, 1_000);
});

test("one only: no other participant reaches the bot", async (context) => {
  const { ann, bot } = await inRoom(context, { hear: "first-guest" });
  await ann.speak();
  const bob = await invite(context, bot, 1_000);
  await bob.speak();
  await hearsOnly(ann, bot, 1_000);
});

test("everyone: the bot hears two at once", async (context) => {
  const { ann, bot } = await inRoom(context, { hear: "everyone" });
  await ann.speak();
  await hears(ann, bot, 440);
  const bob = await invite(context, bot, 1_000);
  await bob.speak();
  await eventually({
    what: "both in what the bot says back",
    look: () => ann.hear(bot.identity),
    until: ({ purity, level }) => level > 0.05 && purity < PURE,
  });
});

test("a bot that speaks is silent at once when it is told to", async (context) => {
  const { ann, bot } = await inRoom(context, { toneHz: 440 });
  await hears(ann, bot, 440);
  await ann.send(
    JSON.stringify({ label: "rtvi-ai", id: "1", type: "client-message", data: { t: "stop", d: null } }),
    { reliable: true },
  );
  const answer = await eventually({
    what: "the bot's answer",
    look: async () =>
      (await ann.messages())
        .map(({ text }) => JSON.parse(text) as { type: string; data?: { d?: unknown } })
        .find(({ type }) => type === "server-response"),
    until: (found) => found !== undefined,
  });
  assert.equal(answer?.data?.d, 0, "nothing is left of nearly a minute");
  await eventually({
    what: "silence",
    look: () => ann.hear(bot.identity),
    until: (tone) => isSilence(tone),
    quietMs: 5_000,
  });
});

interface BotPlace {
  identity: string;
  sessionId: string;
}

async function inRoom(context: TestContext, body: object): Promise<{ ann: NodeAttendee; bot: BotPlace }> {
  const place = await post("/start", { transport: "room", body });
  const ann = await join(context, place, 440);
  return {
    ann,
    bot: { identity: `Bot-${place.sessionId.slice(0, 8)}`, sessionId: place.sessionId },
  };
}

async function invite(context: TestContext, { sessionId }: BotPlace, toneHz: number): Promise<NodeAttendee> {
  return join(context, await post(`/sessions/${sessionId}/api/invite`, {}), toneHz);
}

async function join(
  context: TestContext,
  { roomUrl, token }: Pick<Place, "roomUrl" | "token">,
  toneHz: number,
): Promise<NodeAttendee> {
  const attendee = await joinFromNode({ url: roomUrl, token, identity: "client", toneHz });
  context.after(() => attendee.leave());
  return attendee;
}

const PURE = 0.8; // two tones of one loudness share the energy

async function hearsOnly(listener: NodeAttendee, bot: BotPlace, toneHz: number): Promise<void> {
  await eventually({
    what: `only ${toneHz} Hz in what the bot says back`,
    look: () => listener.hear(bot.identity),
    until: (tone) => isMostly(tone, toneHz) && tone.purity > PURE,
  });
}

async function hears(listener: NodeAttendee, bot: BotPlace, toneHz: number): Promise<void> {
  await eventually({
    what: `the bot is heard at ${toneHz} Hz`,
    look: () => listener.hear(bot.identity),
    until: (tone) => isMostly(tone, toneHz),
  });
}

async function post(path: string, body: object): Promise<Place> {
  const response = await fetch(`${runner.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200);
  return (await response.json()) as Place;
}
