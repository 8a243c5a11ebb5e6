// Sessions of the hosted service in rooms of its own room server, reached through the gateway.
import { dispose, RoomEvent } from "@livekit/rtc-node";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { after, before, test, type TestContext } from "node:test";
import type { RoomStarted } from "@vocalhost/protocol";
import { eventually, within } from "../../testing/wait.ts";
import { isMostly } from "../conformance/tone.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { joinFromNode, type NodeAttendee } from "../rooms/node-attendee.ts";
import { ECHO_BOT, start } from "./hosted-calls.ts";

let service: ServiceProcess;

before(async () => {
  service = await startServiceProcess({ timing: { heartbeatMs: 1_000 } });
  await service.deploy({ name: "echo", files: ECHO_BOT, autoScaling: { minAgents: 1, maxAgents: 4 } });
});

after(async () => {
  await service?.[Symbol.asyncDispose]();
  await dispose(); // or rtc-node keeps the process
});

test("two people and a bot talk in a room, over the death of a controller, until the session is stopped", async (context) => {
  const answer = await start(service, "echo", { transport: "room" });
  assert.equal(answer.status, 200);
  const started = (await answer.json()) as RoomStarted;
  assert.equal(started.roomUrl, new URL(service.apiUrl).origin.replace(/^http/, "ws"));
  assert.equal(started.url, started.roomUrl);
  const ann = await join(context, started, 440);
  await ann.speak();
  const bot = await botOf(ann);
  await hears(ann, bot, 440);

  await service.replaceController();
  const invited = await fetch(`${service.apiUrl}/public/echo/sessions/${started.sessionId}/api/invite`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.publicKey}` },
  });
  assert.equal(invited.status, 200);
  const bob = await join(context, (await invited.json()) as RoomStarted, 1_000);
  await hears(bob, bot, 440);

  const gone = once(ann.room, RoomEvent.Disconnected);
  await service.api.sessions.stop("echo", started.sessionId);
  assert.equal(await service.sessionEnded(started.sessionId), "stopped");
  await within(gone, 10_000, "goodbye to those who are still there");
});

test("a start that is repeated comes into the same room, and refusals name what is wrong", async (context) => {
  const key = randomUUID();
  const again = async (): Promise<RoomStarted> => {
    const answer = await start(service, "echo", {
      transport: "livekit",
      headers: { "idempotency-key": key },
    });
    assert.equal(answer.status, 200);
    return (await answer.json()) as RoomStarted;
  };
  const first = await again();
  const second = await again();
  assert.equal(second.sessionId, first.sessionId);
  const ann = await join(context, second, 440);
  await botOf(ann);
  await ann.leave();
  assert.equal(await service.sessionEnded(first.sessionId), "client-left");

  const origin = new URL(service.apiUrl).origin;
  const validate = await fetch(`${origin}/rtc/validate?access_token=x`);
  assert.deepEqual([validate.status, await validate.text()], [401, "invalid authorization token"]);
  const calls = await fetch(`${origin}/twirp/livekit.RoomService/ListRooms`, { method: "POST" });
  assert.equal(calls.status, 404, "what only the controller asks is not passed on");
  const daily = await start(service, "echo", { createDailyRoom: true });
  assert.deepEqual([daily.status, /DAILY_API_KEY/.test(await daily.text())], [400, true]);
  const costly = await start(service, "echo", {
    transport: "room",
    roomProperties: { enable_recording: "cloud" },
  });
  assert.equal(costly.status, 403);
});

async function join(
  context: TestContext,
  { roomUrl, token }: Pick<RoomStarted, "roomUrl" | "token">,
  toneHz: number,
): Promise<NodeAttendee> {
  const attendee = await joinFromNode({ url: roomUrl, token, identity: "client", toneHz });
  context.after(() => attendee.leave());
  return attendee;
}

async function botOf(attendee: NodeAttendee): Promise<string> {
  const others = await eventually({
    what: "a bot in the room",
    look: () => attendee.others(),
    until: (seen) => seen.some(({ identity }) => identity.startsWith("Bot-")),
  });
  return others.find(({ identity }) => identity.startsWith("Bot-"))?.identity ?? "";
}

async function hears(listener: NodeAttendee, bot: string, toneHz: number): Promise<void> {
  await eventually({
    what: `the bot is heard at ${toneHz} Hz`,
    look: () => listener.hear(bot),
    until: (tone) => isMostly(tone, toneHz),
  });
}
