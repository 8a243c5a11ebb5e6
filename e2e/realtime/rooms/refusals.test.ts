import { SignalRequest, SignalResponse } from "@livekit/protocol";
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { eventually } from "../../../testing/wait.ts";
import { hears, sees } from "./expectations.ts";
import { openOwnTarget } from "./room-target.ts";
import { freshRoom, openRoomStage, type RoomStage } from "./stage.ts";

let stage: RoomStage;
before(async () => {
  stage = await openRoomStage();
});
after(() => stage[Symbol.asyncDispose]());

test("tokens that are missing, altered, expired, foreign or for something else are refused", async () => {
  const { target } = stage;
  const good = await target.token("alice", "room");
  const refused: Record<string, [token: string, status: number]> = {
    missing: ["", 401],
    garbage: ["not.a.token", 401],
    altered: [alter(good), 401],
    unsigned: [unsigned(good), 401],
    expired: [await target.token("alice", "room", { ttl: -300 }), 401],
    "of another secret": [
      await target.token("alice", "room", { apiSecret: "some other secret, long enough" }),
      401,
    ],
    "not for joining": [await target.token("alice", "room", { roomJoin: false }), 401],
    "without a room": [await target.token("alice", ""), 400],
    "with a very long identity": [await target.token("a".repeat(1_000), "room"), 400],
  };
  for (const [what, [token, status]] of Object.entries(refused)) {
    const query = new URLSearchParams(token ? { access_token: token } : {});
    const validated = await fetch(`${target.httpUrl}/rtc/validate?${query}`);
    assert.equal(validated.status, status, `a token that is ${what}, validated`);
    assert.equal(
      await upgradeStatus(`${target.url}/rtc?${query}`),
      status,
      `a token that is ${what}, joining`,
    );
    if (target.isOurs && token)
      assert.ok(!(await validated.text()).includes(token), "the token comes back in the answer");
  }
  const validated = await fetch(`${target.httpUrl}/rtc/validate?access_token=${good}`);
  assert.deepEqual([validated.status, await validated.text()], [200, "success"]);
});

test("the room service refuses who may not, whatever they ask for", async () => {
  const { target } = stage;
  const call = async (method: string, token: string | undefined, body: unknown): Promise<unknown> => {
    const response = await fetch(`${target.httpUrl}/twirp/livekit.RoomService/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const { code } = (await response.json()) as { code?: string };
    return [response.status, code];
  };
  const joiner = await target.token("alice", "room");
  const otherAdmin = await target.token("admin", "another room", { roomAdmin: true });
  for (const token of [undefined, joiner, otherAdmin]) {
    assert.deepEqual(await call("CreateRoom", token, { name: "x" }), [401, "unauthenticated"]);
    assert.deepEqual(await call("ListRooms", token, {}), [401, "unauthenticated"]);
    assert.deepEqual(await call("DeleteRoom", token, { room: "x" }), [401, "unauthenticated"]);
    for (const method of ["ListParticipants", "SendData", "UpdateRoomMetadata"])
      assert.deepEqual(await call(method, token, { room: "room" }), [401, "unauthenticated"], method);
    for (const method of ["GetParticipant", "RemoveParticipant", "UpdateParticipant", "MutePublishedTrack"])
      assert.deepEqual(
        await call(method, token, { room: "room", identity: "bob" }),
        [401, "unauthenticated"],
        method,
      );
  }
  const creator = await target.token("admin", "", { roomCreate: true });
  assert.deepEqual(await call("CreateRoom", creator, "{ not json"), [400, "malformed"]);
  assert.deepEqual(await call("NoSuchThing", creator, {}), [404, "bad_route"]);
  assert.deepEqual(await call("DeleteRoom", creator, { room: "nowhere" }), [404, "not_found"]);
});

test("malformed signalling ends that socket and nothing else", async (context) => {
  const room = freshRoom();
  const alice = await stage.fromNode(context, { identity: "alice", room, toneHz: 440 });
  const bob = await stage.fromNode(context, { identity: "bob", room, toneHz: 1_000 });
  await alice.speak();
  await hears(bob, alice);
  for (const bytes of [Buffer.from([0xff, 0xff, 0xff, 0xff]), Buffer.from("garbage"), cutRequest()]) {
    const socket = await openSignal(await stage.target.token("mallory", room));
    socket.send(bytes);
    await once(socket, "close", { signal: AbortSignal.timeout(10_000) });
  }
  await hears(bob, alice);
});

test("a participant of one room is not resumed from another", async (context) => {
  const alice = await stage.fromNode(context, { identity: "alice", room: freshRoom() });
  const token = await stage.target.token("alice", freshRoom());
  const socket = new WebSocket(
    `${stage.target.url}/rtc?access_token=${token}&reconnect=1&sid=${await alice.ownSid()}&protocol=16`,
  );
  const [data] = (await once(socket, "message", { signal: AbortSignal.timeout(10_000) })) as [Buffer];
  const { message } = SignalResponse.fromBinary(data);
  socket.terminate();
  assert.equal(message.case, "leave");
});

test("data that is too large reaches no participant, and the next does", async (context) => {
  const room = freshRoom();
  const bob = await stage.fromNode(context, { identity: "bob", room });
  for (const alice of [
    await stage.fromBrowser(context, { identity: "alice", room }),
    await stage.fromNode(context, { identity: "anna", room }),
  ]) {
    await sees(bob, alice);
    await alice.send("before", { reliable: true });
    await eventually({
      what: `bob gets what ${alice.identity} sends before`,
      look: () => bob.messages(),
      until: (messages) => messages.some(({ from, text }) => from === alice.identity && text === "before"),
    });
    await alice.sendBytes(200_000);
    assert.ok(!(await bob.messages()).some(({ text }) => text.length > 100_000));
    assert.ok(!(await alice.events()).some(({ name }) => name === "disconnected"));
    await alice.send("lossy after", { reliable: false });
    await eventually({
      what: `bob gets what ${alice.identity} sends after`,
      look: () => bob.messages(),
      until: (messages) =>
        messages.some(({ from, text }) => from === alice.identity && text === "lossy after"),
    });
  }
});

test("a full room and a full server say what to do", async () => {
  await using target = await openOwnTarget({ limits: { participantsPerRoom: 1, rooms: 1 } });
  const socket = new WebSocket(`${target.url}/rtc?access_token=${await target.token("alice", "one")}`);
  await once(socket, "message");
  for (const room of ["one", "two"]) {
    const refused = await fetch(
      `${target.httpUrl}/rtc/validate?access_token=${await target.token("bob", room)}`,
    );
    assert.equal(refused.status, 403);
    assert.match(await refused.text(), /configure a LiveKit server \(LIVEKIT_URL\)/);
  }
  await assert.rejects(target.service.createRoom({ name: "three" }), { code: "resource_exhausted" });
  const again = await fetch(
    `${target.httpUrl}/rtc/validate?access_token=${await target.token("alice", "one")}`,
  );
  assert.equal(again.status, 200, "who is there already may come back");
  socket.terminate();
});

test("a signal message that is too large, or one too many, ends the socket", async () => {
  await using target = await openOwnTarget({
    limits: { signalMessageBytes: 10_000, signalMessagesPerSecond: 20 },
  });
  const large = await openSignal(await target.token("alice", "room"), target.url);
  large.send(Buffer.alloc(10_001));
  const [tooLarge] = (await once(large, "close", { signal: AbortSignal.timeout(10_000) })) as [number];
  assert.equal(tooLarge, 1009);
  const many = await openSignal(await target.token("alice", "room"), target.url);
  const ping = new SignalRequest({ message: { case: "ping", value: 1n } }).toBinary();
  for (let sent = 0; sent < 50; sent += 1) many.send(ping);
  const [tooMany] = (await once(many, "close", { signal: AbortSignal.timeout(10_000) })) as [number];
  assert.equal(tooMany, 1008);
});

async function openSignal(token: string, url = stage.target.url): Promise<WebSocket> {
  const socket = new WebSocket(`${url}/rtc?access_token=${token}&protocol=16&sdk=js`);
  socket.on("error", () => undefined);
  await once(socket, "message", { signal: AbortSignal.timeout(10_000) });
  return socket;
}

async function upgradeStatus(url: string): Promise<number> {
  const socket = new WebSocket(url);
  const { promise, resolve } = Promise.withResolvers<number>();
  socket.on("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
  socket.on("open", () => resolve(101));
  socket.on("error", () => undefined);
  const status = await promise;
  socket.terminate();
  return status;
}

/** An offer whose length says more than there is. */
function cutRequest(): Buffer {
  const offer = new SignalRequest({ message: { case: "addTrack", value: { cid: "c".repeat(200) } } });
  return Buffer.from(offer.toBinary().subarray(0, 50));
}

function alter(token: string): string {
  const [head = "", claims = "", signature = ""] = token.split(".");
  const parsed = JSON.parse(Buffer.from(claims, "base64url").toString()) as { video: { room: string } };
  parsed.video.room = "another room";
  return [head, Buffer.from(JSON.stringify(parsed)).toString("base64url"), signature].join(".");
}

function unsigned(token: string): string {
  const head = Buffer.from(JSON.stringify({ alg: "none", typ: "JWT" })).toString("base64url");
  return `${head}.${token.split(".")[1]}.`;
}
