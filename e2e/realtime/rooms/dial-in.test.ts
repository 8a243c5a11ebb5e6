// Phone calls that come in through a room's provider: Daily's webhook, and a LiveKit server's.
import { dispose } from "@livekit/rtc-node";
import assert from "node:assert/strict";
import { createHash, createHmac, randomBytes, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { AccessToken } from "livekit-server-sdk";
import { startDailyServer, type DailyServer } from "../../../packages/rooms/src/testing/daily-server.ts";
import { eventually } from "../../../testing/wait.ts";
import { isMostly } from "../../conformance/tone.ts";
import { startRunnerProcess, type RunnerProcess } from "../../harness/runner-process.ts";
import { openRoomTarget, type RoomTarget } from "./room-target.ts";
import { calledBy, callsOf, joinAsCaller, SIP_IDENTITY, type ProbedCall } from "./sip-caller.ts";
import { freshRoom } from "./stage.ts";

const SECRET = randomBytes(32).toString("base64");
const EVENT_SECRET = randomBytes(32).toString("base64");

let daily: DailyServer;
let target: RoomTarget;
let runner: RunnerProcess;

before(async () => {
  daily = await startDailyServer();
  target = await openRoomTarget();
  runner = await startRunnerProcess({
    bot: "e2e/bots/probe-bot.ts",
    flags: ["--dialin"],
    environment: {
      DAILY_API_KEY: daily.apiKey,
      DAILY_API_URL: daily.url,
      DAILY_DIALIN_HMAC: SECRET,
      DAILY_WEBHOOK_HMAC: EVENT_SECRET,
      LIVEKIT_URL: target.url,
      LIVEKIT_API_KEY: target.apiKey,
      LIVEKIT_API_SECRET: target.apiSecret,
    },
  });
});

after(async () => {
  await runner?.[Symbol.asyncDispose]();
  await target?.[Symbol.asyncDispose]();
  await daily?.[Symbol.asyncDispose]();
  await dispose(); // or rtc-node keeps the process
});

test("Daily: a call gets a room with a SIP address, a bot that knows of it, and is forwarded when the room is ready", async () => {
  const call = {
    To: "+15551230000",
    From: "+15557770000",
    callId: randomUUID(),
    callDomain: randomUUID(),
    sipHeaders: { "X-Client": "own" },
  };
  const { status, body } = await deliver(call);
  assert.equal(status, 200);
  assert.match(body["dailyRoom"] ?? "", /^https:\/\/example\.daily\.co\/vocalhost-telephony-/);
  assert.ok(body["dailyToken"]);
  const seen = await called(call.callId);
  assert.equal(seen.sessionId, body["sessionId"]);
  assert.deepEqual(seen.body, {
    dialin_settings: {
      call_id: call.callId,
      call_domain: call.callDomain,
      To: call.To,
      From: call.From,
      sip_headers: call.sipHeaders,
    },
  });
  assert.deepEqual(seen.callData, {
    streamId: call.callDomain,
    callId: call.callId,
    from: call.From,
    to: call.To,
    body: call.sipHeaders,
  });
  assert.deepEqual((await deliver(call)).body, body, "a delivery that is repeated starts nothing");
  assert.deepEqual(forwards(), [], "no caller is sent to a room that is not ready");

  const webhook = `${runner.url}/daily-dialin-webhook`;
  const roomName = (body["dailyRoom"] ?? "").split("/").at(-1) ?? "";
  const stranger = await daily.tellReady(webhook, roomName, SECRET);
  assert.equal(stranger.status, 403, "signed with another secret");
  for (const time of ["first", "again"])
    assert.equal((await daily.tellReady(webhook, roomName, EVENT_SECRET)).status, 200, time);
  const { callId, callDomain } = call;
  assert.deepEqual(forwards(), [{ callId, callDomain, sipUri: daily.setReady(roomName) }]);
  assert.equal((await calls()).filter(({ callData }) => callData?.callId === call.callId).length, 1);
  assert.ok(!runner.output().includes(daily.apiKey));
});

test("Daily: the test delivery is answered, and what is unsigned, altered, incomplete or no JSON is refused", async () => {
  assert.deepEqual(await deliver({ Test: "test" }, {}), { status: 200, body: { status: "OK" } });
  const call = { To: "+1", From: "+2", callId: "c", callDomain: "d" };
  assert.equal((await deliver(call, {})).body["code"], "SIGNATURE_INVALID");
  const headers = signed(JSON.stringify(call));
  assert.equal((await deliver({ ...call, From: "+3" }, headers)).body["code"], "SIGNATURE_INVALID");
  const incomplete = await deliver({ To: "+1", From: "+2" });
  assert.equal(incomplete.body["error"], "Missing required fields: From, To, callId, callDomain");
  const wrong = await fetch(`${runner.url}/daily-dialin-webhook`, { method: "POST", body: "{" });
  assert.equal(wrong.status, 400);
});

test("LiveKit: a caller who came into a room meets a bot that knows the call, and both leave together", async (context) => {
  const room = freshRoom();
  const caller = await joinAsCaller(context, target, room);
  const { callId, attributes } = caller;
  const event = JSON.stringify({
    event: "participant_joined",
    room: { name: room },
    participant: { identity: SIP_IDENTITY, kind: "SIP", attributes },
  });
  assert.equal((await tell(event, await vouchFor(`${event} `))).status, 403, "signed for another body");
  assert.equal((await tell(event, undefined)).status, 403);
  assert.equal((await tell(event, await vouchFor(event))).status, 200);
  assert.equal((await tell(event, await vouchFor(event))).status, 200);
  const seen = await called(callId);
  assert.deepEqual(
    [seen.callData?.from, seen.callData?.to, seen.callData?.body],
    ["+15557770000", "+15551230000", attributes],
  );
  await eventually({
    what: "the caller hears the bot",
    look: () => caller.hear(`Bot-${seen.sessionId.slice(0, 8)}`),
    until: (tone) => isMostly(tone, 440),
  });
  await caller.leave();
  await eventually({
    what: "the session ends with the call",
    look: async () => (await called(callId)).ended,
    until: (ended) => ended === "client-left",
  });
  assert.equal((await calls()).filter(({ callData }) => callData?.callId === callId).length, 1);

  const other = JSON.stringify({ event: "room_started", room: { name: room } });
  assert.equal((await tell(other, await vouchFor(other))).status, 200, "what is no call is no error");
});

function forwards(): object[] {
  return daily.requests.filter(({ path }) => path === "/dialin/pinlessCallUpdate").map(({ body }) => body);
}

function calls(): Promise<ProbedCall[]> {
  return callsOf(runner.url);
}

function called(callId: string): Promise<ProbedCall> {
  return calledBy(runner.url, callId);
}

function signed(body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", Buffer.from(SECRET, "base64")).update(`${timestamp}.${body}`);
  return { "x-pinless-timestamp": timestamp, "x-pinless-signature": signature.digest("base64") };
}

async function deliver(
  call: object,
  headers: Record<string, string> = signed(JSON.stringify(call)),
): Promise<{ status: number; body: Record<string, string> }> {
  const response = await fetch(`${runner.url}/daily-dialin-webhook`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(call),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

async function vouchFor(body: string): Promise<string> {
  const token = new AccessToken(target.apiKey, target.apiSecret, { ttl: 60 });
  token.sha256 = createHash("sha256").update(body).digest("base64");
  return token.toJwt();
}

async function tell(body: string, authorization: string | undefined): Promise<Response> {
  return fetch(`${runner.url}/livekit-webhook`, {
    method: "POST",
    headers: {
      "content-type": "application/webhook+json",
      ...(authorization === undefined ? {} : { authorization }),
    },
    body,
  });
}
