// Sessions of the hosted service in rooms of its own room server, reached through the gateway.
import { dispose, RoomEvent } from "@livekit/rtc-node";
import assert from "node:assert/strict";
import { createHash, createHmac, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { after, before, test, type TestContext } from "node:test";
import type { RoomStarted } from "@vocalhost/protocol";
import { AccessToken } from "livekit-server-sdk";
import { startDailyServer, type DailyServer } from "../../../packages/rooms/src/testing/daily-server.ts";
import { eventually, within } from "../../../testing/wait.ts";
import { isMostly } from "../../conformance/tone.ts";
import { startServiceProcess, type ServiceProcess } from "../../harness/service-process.ts";
import { joinFromNode, type NodeAttendee } from "../rooms/node-attendee.ts";
import { openRoomTarget, type RoomTarget } from "../rooms/room-target.ts";
import { ECHO_BOT, start } from "../../hosted/hosted-calls.ts";

let service: ServiceProcess;
let livekit: RoomTarget;
let daily: DailyServer;

const DIALIN_SECRET = randomBytes(32).toString("base64");
const EVENT_SECRET = randomBytes(32).toString("base64");

before(async () => {
  livekit = await openRoomTarget();
  daily = await startDailyServer();
  service = await startServiceProcess({
    timing: { heartbeatMs: 1_000 },
    environment: {
      VOCALHOST_ROOM_PROVIDER: "embedded",
      LIVEKIT_URL: livekit.url,
      LIVEKIT_API_KEY: livekit.apiKey,
      LIVEKIT_API_SECRET: livekit.apiSecret,
      DAILY_API_KEY: daily.apiKey,
      DAILY_API_URL: daily.url,
      DAILY_DIALIN_HMAC: DIALIN_SECRET,
      DAILY_WEBHOOK_HMAC: EVENT_SECRET,
    },
  });
  await service.deploy({ name: "echo", files: ECHO_BOT, autoScaling: { minAgents: 1, maxAgents: 4 } });
});

after(async () => {
  await service?.[Symbol.asyncDispose]();
  await livekit?.[Symbol.asyncDispose]();
  await daily?.[Symbol.asyncDispose]();
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

test("a second bot comes into a room with an invitation, and the room outlives it", async (context) => {
  const first = (await (await start(service, "echo", { transport: "room" })).json()) as RoomStarted;
  const ann = await join(context, first, 440);
  const answer = await start(service, "echo", { room: { token: first.token } });
  assert.equal(answer.status, 200);
  const second = (await answer.json()) as RoomStarted;
  await ann.speak();
  const bots = await botsOf(ann, 2);
  for (const bot of bots) await hears(ann, bot, 440);
  await service.api.sessions.stop("echo", second.sessionId);
  assert.equal(await service.sessionEnded(second.sessionId), "stopped");
  const [left] = await botsOf(ann, 1);
  await hears(ann, left ?? "", 440);
  const stranger = await start(service, "echo", { room: { token: `${first.token.slice(0, -4)}AAAA` } });
  assert.equal(stranger.status, 403);
  await ann.leave();
  assert.equal(await service.sessionEnded(first.sessionId), "client-left");
});

test("a start that is repeated comes into the same room, and refusals name what is wrong", async (context) => {
  const key = randomUUID();
  const again = async (): Promise<RoomStarted> => {
    const answer = await start(service, "echo", {
      transport: "room",
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
  const costly = await start(service, "echo", {
    transport: "room",
    roomProperties: { enable_recording: "cloud" },
  });
  assert.equal(costly.status, 403);
});

test("a caller in a room of a LiveKit server meets a bot that knows the call", async (context) => {
  const room = `room-${randomUUID()}`;
  const callId = randomUUID();
  const attributes = { "sip.callID": callId, "sip.phoneNumber": "+15557770000" };
  const token = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity: "sip_1", attributes });
  token.addGrant({ roomJoin: true, room });
  token.kind = "sip";
  const caller = await join(context, { roomUrl: livekit.url, token: await token.toJwt() }, 440);
  await caller.speak();
  const event = JSON.stringify({
    event: "participant_joined",
    room: { name: room },
    participant: { identity: "sip_1", kind: "SIP", attributes },
  });
  const vouched = new AccessToken(livekit.apiKey, livekit.apiSecret, { ttl: 60 });
  vouched.sha256 = createHash("sha256").update(event).digest("base64");
  const headers = { "content-type": "application/webhook+json" };
  const unsigned = await tellOfCall(event, headers);
  assert.equal(unsigned.status, 403);
  const signed = { ...headers, authorization: await vouched.toJwt() };
  const answers = await Promise.all([tellOfCall(event, signed), tellOfCall(event, signed)]);
  const [first, second] = await Promise.all(answers.map((each) => each.json() as Promise<RoomStarted>));
  assert.equal(first?.sessionId, second?.sessionId, "a delivery that is repeated starts nothing");
  await hears(caller, await botOf(caller), 440);
  const callData = await fetch(`${service.apiUrl}/public/echo/sessions/${first?.sessionId}/call-data`, {
    headers: { authorization: `Bearer ${service.publicKey}` },
  });
  assert.deepEqual(await callData.json(), {
    streamId: "sip_1",
    callId,
    from: "+15557770000",
    to: null,
    body: attributes,
  });
  await caller.leave();
  assert.equal(await service.sessionEnded(first?.sessionId ?? ""), "client-left");
});

test("a call from Daily is forwarded once its room is ready, and the room is gone after the session", async () => {
  const details = { To: "+1", From: "+2", callId: randomUUID(), callDomain: "d" };
  const call = JSON.stringify({ ...details, sipHeaders: { "X-Client": "own" } });
  assert.equal((await tellOfCall(call, {})).status, 403);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const hmac = createHmac("sha256", Buffer.from(DIALIN_SECRET, "base64")).update(`${timestamp}.${call}`);
  const headers = { "x-pinless-timestamp": timestamp, "x-pinless-signature": hmac.digest("base64") };
  const answer = await tellOfCall(call, headers);
  assert.equal(answer.status, 200);
  const { dailyRoom, sessionId } = (await answer.json()) as RoomStarted;
  assert.match(dailyRoom ?? "", /\/vocalhost-telephony-[0-9a-f]{32}$/);
  const roomName = (dailyRoom ?? "").split("/").at(-1) ?? "";
  const forwards = (): object[] =>
    daily.requests.filter(({ path }) => path === "/dialin/pinlessCallUpdate").map(({ body }) => body);
  assert.deepEqual(forwards(), []);
  await service.replaceController();
  const webhook = `${service.apiUrl}/public/webhooks/${service.organization}/echo/dialin`;
  assert.equal((await daily.tellReady(webhook, roomName, DIALIN_SECRET)).status, 403);
  assert.equal((await daily.tellReady(webhook, roomName, EVENT_SECRET)).status, 200);
  assert.deepEqual(forwards(), [
    { callId: details.callId, callDomain: "d", sipUri: daily.setReady(roomName) },
  ]);
  await service.api.sessions.stop("echo", sessionId);
  assert.equal(await service.sessionEnded(sessionId), "stopped");
  await eventually({
    what: "the room is deleted",
    look: () => [...daily.rooms.keys()],
    until: (rooms) => !rooms.includes(roomName),
  });
  assert.ok(!service.output().includes(daily.apiKey));
});

function tellOfCall(body: string, headers: Record<string, string>): Promise<Response> {
  const url = `${service.apiUrl}/public/webhooks/${service.organization}/echo/dialin`;
  return fetch(url, { method: "POST", headers, body });
}

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
  const [bot = ""] = await botsOf(attendee, 1);
  return bot;
}

async function botsOf(attendee: NodeAttendee, count: number): Promise<string[]> {
  return eventually({
    what: `${count} bots in the room`,
    look: async () =>
      (await attendee.others())
        .map(({ identity }) => identity)
        .filter((identity) => identity.startsWith("Bot-")),
    until: ({ length }) => length === count,
  });
}

async function hears(listener: NodeAttendee, bot: string, toneHz: number): Promise<void> {
  await eventually({
    what: `the bot is heard at ${toneHz} Hz`,
    look: () => listener.hear(bot),
    until: (tone) => isMostly(tone, toneHz),
  });
}
