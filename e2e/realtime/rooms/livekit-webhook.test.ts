// The webhook as a LiveKit server itself delivers it. Such a server is told of the address when it starts, so both are
// given: LIVEKIT_URL with its key and secret, and LIVEKIT_WEBHOOK_URL as in the server's own configuration,
// http://127.0.0.1:<free port>/livekit-webhook.
import { dispose } from "@livekit/rtc-node";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../../testing/wait.ts";
import { isMostly } from "../../conformance/tone.ts";
import { startRunnerProcess, type RunnerProcess } from "../../harness/runner-process.ts";
import { openRoomTarget, type RoomTarget } from "./room-target.ts";
import { calledBy, callsOf, joinAsCaller } from "./sip-caller.ts";
import { freshRoom } from "./stage.ts";

const { LIVEKIT_URL, LIVEKIT_WEBHOOK_URL } = process.env;
const skip = LIVEKIT_URL && LIVEKIT_WEBHOOK_URL ? false : "needs a LiveKit server that has our webhook";

let target: RoomTarget;
let runner: RunnerProcess;

before(async () => {
  if (skip) return;
  target = await openRoomTarget();
  const { port } = new URL(LIVEKIT_WEBHOOK_URL ?? "");
  runner = await startRunnerProcess({
    bot: "e2e/bots/probe-bot.ts",
    flags: ["--dialin", "--port", port],
    environment: {
      LIVEKIT_URL: target.url,
      LIVEKIT_API_KEY: target.apiKey,
      LIVEKIT_API_SECRET: target.apiSecret,
    },
  });
});

after(async () => {
  await runner?.[Symbol.asyncDispose]();
  await dispose(); // or rtc-node keeps the process
});

test("a LiveKit server tells of a caller, who meets a bot that knows the call", { skip }, async (context) => {
  const room = freshRoom();
  const caller = await joinAsCaller(context, target, room);
  const { sessionId, callData } = await calledBy(runner.url, caller.callId);
  assert.equal(callData?.from, "+15557770000");
  assert.equal(callData?.to, "+15551230000");
  assert.deepEqual(callData?.body, caller.attributes);
  await eventually({
    what: "the caller hears the bot",
    look: () => caller.hear(`Bot-${sessionId.slice(0, 8)}`),
    until: (tone) => isMostly(tone, caller.toneHz),
  });
  await caller.leave();
  await eventually({
    what: "the session ends with the call",
    look: async () => (await calledBy(runner.url, caller.callId)).ended,
    until: (ended) => ended === "client-left",
  });
  assert.equal((await callsOf(runner.url)).length, 1, "the bot's own joining is no call");
});
