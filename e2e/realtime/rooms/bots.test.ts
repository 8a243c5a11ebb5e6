// Bots in rooms of a runner: its own, and Daily's as far as a bot can go.
import { dispose } from "@livekit/rtc-node";
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { RoomServiceClient } from "livekit-server-sdk";
import { startDailyServer, type DailyServer } from "../../../packages/rooms/src/testing/daily-server.ts";
import { eventually } from "../../../testing/wait.ts";
import { isMostly } from "../../conformance/tone.ts";
import { startRunnerProcess, type RunnerProcess } from "../../harness/runner-process.ts";
import { joinFromNode, type NodeAttendee } from "./node-attendee.ts";

const SECRET = "a secret of thirty-two characters";

let daily: DailyServer;
let runner: RunnerProcess;
let service: RoomServiceClient;

before(async () => {
  daily = await startDailyServer();
  runner = await startRunnerProcess({
    bot: "e2e/bots/probe-bot.ts",
    environment: {
      VOCALHOST_ROOM_PROVIDER: "embedded", // whatever server the other tests are given
      VOCALHOST_ROOMS_API_KEY: "testkey",
      VOCALHOST_ROOMS_API_SECRET: SECRET,
      DAILY_API_KEY: daily.apiKey,
      DAILY_API_URL: daily.url,
    },
  });
  service = new RoomServiceClient(runner.url, "testkey", SECRET);
});

after(async () => {
  await runner?.[Symbol.asyncDispose]();
  await daily?.[Symbol.asyncDispose]();
  await dispose(); // or rtc-node keeps the process
});

/** All fields an answer may have; each test asserts those its answer must have. */
interface Answer {
  error: string;
  code: string;
  sessionId: string;
  roomUrl: string;
  token: string;
  url: string;
  dailyRoom: string;
  dailyToken: string;
}

test("a bot started into a room says back what it hears, answers messages and leaves with its client", async (context) => {
  const { status, body } = await post("/start", { transport: "room", body: { name: "Ann" } });
  assert.equal(status, 200);
  assert.equal(body.roomUrl, `ws://localhost:${runner.port}`);
  assert.equal(body.url, body.roomUrl);
  const ann = await join(context, body, 440);
  await ann.speak();
  await hearsBot(ann, body.sessionId, 440);
  const call = (await calls()).find(({ sessionId }) => sessionId === body.sessionId);
  assert.equal(call?.kind, "room");
  assert.deepEqual(call?.body, { name: "Ann" });

  await say(ann, { id: "1", type: "client-ready", data: { version: "1.2.0" } });
  await say(ann, { id: "2", type: "client-message", data: { t: "ping", d: { count: 3 } } });
  const messages = await eventually({
    what: "the bot answers",
    look: async () =>
      (await ann.messages()).map(({ text }) => JSON.parse(text) as { id?: string; type: string }),
    until: (seen) =>
      ["bot-ready", "server-response"].every((type) => seen.some((each) => each.type === type)),
  });
  assert.equal(messages.find(({ type }) => type === "bot-ready")?.id, "1");

  await ann.leave();
  await ended(body.sessionId, "client-left");
  await eventually({
    what: "the room is gone",
    look: () => service.listRooms(),
    until: (rooms) => rooms.length === 0,
  });
});

test("a client that knows the session can bring others, and the bot hears them all", async (context) => {
  const { body } = await post("/start", { transport: "livekit" });
  const ann = await join(context, body, 440);
  const invited = await post(`/sessions/${body.sessionId}/api/invite`, {});
  assert.equal(invited.status, 200);
  const bob = await join(context, invited.body, 1_000);
  await bob.speak();
  await hearsBot(ann, body.sessionId, 1_000);
  await bob.leave();
  await ann.speak();
  await hearsBot(ann, body.sessionId, 440);
  for (let left = 7; left > 0; left -= 1) await post(`/sessions/${body.sessionId}/api/invite`, {});
  const none = await post(`/sessions/${body.sessionId}/api/invite`, {});
  assert.deepEqual([none.status, none.body.error], [502, "All 8 invitations of this session are given away"]);
  await ann.leave();
  await ended(body.sessionId, "client-left");
});

test("a second bot comes into the room of the first with an invitation, and one with a foreign invitation does not", async (context) => {
  const { body: first } = await post("/start", { transport: "room", body: { name: "first" } });
  const ann = await join(context, first, 440);
  const { body: room } = await post(`/sessions/${first.sessionId}/api/invite`, {});
  const { status, body: second } = await post("/start", { room, body: { name: "second" } });
  assert.equal(status, 200);
  assert.deepEqual([second.roomUrl, second.token], [first.roomUrl, room.token]);
  await ann.speak();
  for (const { sessionId } of [first, second]) await hearsBot(ann, sessionId, 440);
  assert.equal((await service.listRooms()).length, 1);

  const none = await post(`/sessions/${second.sessionId}/api/invite`, {});
  assert.match(none.body.error, /This session cannot invite participants/);
  const stranger = await post("/start", { room: { token: `${room.token.slice(0, -4)}AAAA` } });
  assert.deepEqual([stranger.status, stranger.body.code], [403, "ACCESS_DENIED"]);
  const wrong = await post("/start", { transport: "webrtc", room });
  assert.deepEqual([wrong.status, wrong.body.code], [422, "INVALID_REQUEST"]);

  await ann.leave();
  for (const { sessionId } of [first, second]) await ended(sessionId, "client-left");
});

test("GET /room sends a browser into a room, but not for a page of another site", async (context) => {
  const refused = await fetch(`${runner.url}/room`, {
    redirect: "manual",
    headers: { "sec-fetch-site": "cross-site" },
  });
  assert.equal(refused.status, 403);
  const sent = await fetch(`${runner.url}/room`, { redirect: "manual" });
  assert.equal(sent.status, 307);
  const [path, place] = (sent.headers.get("location") ?? "").split("#");
  assert.equal(path, "/client/");
  const { room = "", token = "", session = "" } = Object.fromEntries(new URLSearchParams(place));
  const ann = await join(context, { roomUrl: room, token }, 440);
  await ann.speak();
  await hearsBot(ann, session, 440);
  await ann.leave();
  await ended(session, "client-left");
});

test("Daily's rooms: made, told, and a bot that says why it cannot come", async () => {
  const asked = { createDailyRoom: true, dailyRoomProperties: { max_participants: 2 } };
  const { status, body } = await post("/start", asked);
  assert.equal(status, 200);
  assert.match(body.dailyRoom, /^https:\/\/example\.daily\.co\/vocalhost-[0-9a-f]{32}$/);
  assert.deepEqual([body.roomUrl, body.token], [body.dailyRoom, body.dailyToken]);
  await runner.printed(/Daily has no SDK for Node; use embedded or LiveKit rooms/);
  await ended(body.sessionId, "bot-failed");
  await eventually({ what: "the room is gone", look: () => daily.rooms.size, until: (size) => size === 0 });

  const sent = await fetch(`${runner.url}/daily`, { redirect: "manual" });
  assert.equal(sent.status, 307);
  assert.match(sent.headers.get("location") ?? "", /^https:\/\/example\.daily\.co\/vocalhost-[0-9a-f]{32}$/);

  await eventually({ what: "its room is gone", look: () => daily.rooms.size, until: (size) => size === 0 });
  const wrong = await post("/start", {
    transport: "daily",
    roomProperties: { colour: 1 },
  });
  assert.deepEqual([wrong.status, /colour/.test(wrong.body.error)], [422, true]);
  daily.refuseNext(1, { status: 401, error: "authentication-error", info: `not ${daily.apiKey}` });
  const failed = await post("/start", { transport: "daily" });
  assert.deepEqual([failed.status, failed.body.code], [502, "ROOM_REFUSED"]);
  for (const text of [JSON.stringify(failed.body), runner.output()]) assert.ok(!text.includes(daily.apiKey));
});

test("the room server on the runner's port lets in only who has a token, and says why not", async () => {
  await post("/start", { transport: "room" });
  const refused = await fetch(`${runner.url}/rtc/validate?access_token=x`);
  assert.deepEqual([refused.status, await refused.text()], [401, "invalid authorization token"]);
  const stranger = new RoomServiceClient(runner.url, "testkey", "another secret of thirty-two chars");
  await assert.rejects(stranger.listRooms());
});

async function join(
  context: TestContext,
  { roomUrl, token }: Pick<Answer, "roomUrl" | "token">,
  toneHz: number,
): Promise<NodeAttendee> {
  const attendee = await joinFromNode({ url: roomUrl, token, identity: "client", toneHz });
  context.after(() => attendee.leave());
  return attendee;
}

async function hearsBot(listener: NodeAttendee, sessionId: string, toneHz: number): Promise<void> {
  await eventually({
    what: `the bot is heard at ${toneHz} Hz`,
    look: () => listener.hear(`Bot-${sessionId.slice(0, 8)}`),
    until: (tone) => isMostly(tone, toneHz),
  });
}

async function say(attendee: NodeAttendee, message: object): Promise<void> {
  await attendee.send(JSON.stringify({ label: "rtvi-ai", ...message }), { reliable: true });
}

interface Call {
  sessionId: string;
  kind: string;
  body: unknown;
  ended: unknown;
}

async function calls(): Promise<Call[]> {
  return (await (await fetch(`${runner.url}/calls`)).json()) as Call[];
}

async function ended(sessionId: string, reason: string): Promise<void> {
  await eventually({
    what: `the session ends because of ${reason}`,
    look: async () => (await calls()).find((call) => call.sessionId === sessionId)?.ended,
    until: (seen) => seen === reason,
  });
}

async function post(path: string, body: object): Promise<{ status: number; body: Answer }> {
  const response = await fetch(`${runner.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer };
}
