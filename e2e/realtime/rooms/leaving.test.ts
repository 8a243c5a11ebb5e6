import {
  AccessToken,
  AgentDispatchClient,
  DataPacket_Kind,
  EgressClient,
  IngressClient,
  RoomAgentDispatch,
  RoomEgress,
  SipClient,
} from "livekit-server-sdk";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../../testing/wait.ts";
import type { Attendee } from "./attendee.ts";
import { hears, silentAbout } from "./expectations.ts";
import { openOwnTarget } from "./room-target.ts";
import { freshRoom, openRoomStage, type RoomStage } from "./stage.ts";

let stage: RoomStage;
before(async () => {
  stage = await openRoomStage();
});
after(() => stage[Symbol.asyncDispose]());

test("who leaves is gone for the others", async (context) => {
  const room = freshRoom();
  const alice = await stage.fromBrowser(context, { identity: "alice", room });
  const bob = await stage.fromNode(context, { identity: "bob", room });
  await alice.leave();
  await happens(bob, "participantDisconnected", "alice");
  assert.deepEqual(await bob.others(), []);
});

test("a removed participant is told why", async (context) => {
  const room = freshRoom();
  const alice = await stage.fromBrowser(context, { identity: "alice", room });
  const bob = await stage.fromNode(context, { identity: "bob", room });
  const { service } = stage.target;
  await service.removeParticipant(room, "alice");
  await happens(alice, "disconnected", "PARTICIPANT_REMOVED");
  await happens(bob, "participantDisconnected", "alice");
  await service.removeParticipant(room, "bob");
  await happens(bob, "disconnected", "PARTICIPANT_REMOVED");
  await assert.rejects(service.removeParticipant(room, "carol"), { code: "not_found" });
});

test("the same identity a second time evicts the first", async (context) => {
  const room = freshRoom();
  const first = await stage.fromBrowser(context, { identity: "alice", room });
  const second = await stage.fromNode(context, { identity: "alice", room });
  await happens(first, "disconnected", "DUPLICATE_IDENTITY");
  const participants = await stage.target.service.listParticipants(room);
  assert.deepEqual(
    participants.map(({ sid }) => sid),
    [await second.ownSid()],
  );
});

test("deleting a room ends it for all participants", async (context) => {
  const room = freshRoom();
  const alice = await stage.fromBrowser(context, { identity: "alice", room });
  const bob = await stage.fromNode(context, { identity: "bob", room });
  await stage.target.service.deleteRoom(room);
  await happens(alice, "disconnected", "ROOM_DELETED");
  await happens(bob, "disconnected", "ROOM_DELETED");
  assert.deepEqual(await stage.target.service.listRooms([room]), []);
});

test("the room service makes, lists, describes and changes rooms and participants", async (context) => {
  const room = freshRoom();
  const { service } = stage.target;
  const made = await service.createRoom({
    name: room,
    emptyTimeout: 60,
    maxParticipants: 5,
    metadata: "first",
  });
  assert.equal(made.name, room);
  assert.match(made.sid, /^RM_/);
  assert.deepEqual([made.emptyTimeout, made.maxParticipants, made.metadata], [60, 5, "first"]);
  assert.equal((await service.listRooms([room]))[0]?.sid, made.sid);
  const alice = await stage.fromNode(context, { identity: "alice", room, name: "Alice" });
  const bob = await stage.fromBrowser(context, { identity: "bob", room });
  const trackSid = await alice.speak();
  await hears(bob, alice);
  const described = await service.getParticipant(room, "alice");
  assert.deepEqual([described.name, described.tracks[0]?.sid, described.state], ["Alice", trackSid, 2]);
  assert.equal((await service.updateRoomMetadata(room, "second")).metadata, "second");
  await happens(bob, "roomMetadataChanged");
  await service.updateParticipant(room, "alice", { metadata: "speaker", attributes: { mood: "good" } });
  await eventually({
    what: "bob sees alice's metadata",
    look: () => bob.others(),
    until: ([seen]) => seen?.metadata === "speaker" && seen.attributes["mood"] === "good",
  });
  await service.sendData(room, new TextEncoder().encode("notice"), DataPacket_Kind.RELIABLE, {
    destinationIdentities: ["bob"],
    topic: "news",
  });
  const messages = await eventually({
    what: "bob gets the service's message",
    look: () => bob.messages(),
    until: (seen) => seen.length > 0,
  });
  assert.deepEqual([messages[0]?.text, messages[0]?.topic], ["notice", "news"]);
  assert.deepEqual(await alice.messages(), []);
});

test("the room service chooses what a participant hears, and calls its methods", async (context) => {
  const room = freshRoom();
  const { service, isOurs } = stage.target;
  const alice = await stage.fromNode(context, { identity: "alice", room });
  const bob = await stage.fromBrowser(context, { identity: "bob", room });
  const trackSid = await alice.speak();
  await hears(bob, alice);
  await service.updateSubscriptions(room, "bob", [trackSid], false);
  await silentAbout(bob, alice);
  await service.updateSubscriptions(room, "bob", [trackSid], true);
  await hears(bob, alice);
  alice.room.localParticipant?.registerRpcMethod("greet", async ({ payload }) => `hello ${payload}`);
  const call = { room, destination_identity: "alice", payload: "you" };
  assert.deepEqual(await performRpc({ ...call, method: "greet" }), [200, { payload: "hello you" }]);
  const [unknownStatus] = await performRpc({ ...call, method: "unknown" });
  assert.equal(unknownStatus, 400);
  alice.room.localParticipant?.registerRpcMethod("wait", () => new Promise(() => undefined));
  const [lateStatus] = await performRpc({ ...call, method: "wait", response_timeout_ms: 500 });
  assert.equal(lateStatus, 408);
  if (isOurs)
    assert.equal((await performRpc({ ...call, destination_identity: "carol", method: "greet" }))[0], 404);
});

test(
  "what needs a LiveKit server is refused with a sentence",
  { skip: Boolean(process.env["LIVEKIT_URL"]) },
  async () => {
    const { httpUrl, apiKey, apiSecret, service } = stage.target;
    const missing = [
      () => new AgentDispatchClient(httpUrl, apiKey, apiSecret).createDispatch("room", "agent"),
      () => new EgressClient(httpUrl, apiKey, apiSecret).listEgress(),
      () => new IngressClient(httpUrl, apiKey, apiSecret).listIngress(),
      () => new SipClient(httpUrl, apiKey, apiSecret).listSipInboundTrunk(),
      () => service.moveParticipant("room", "alice", "other"),
      () => service.createRoom({ name: "with-agents", agents: [new RoomAgentDispatch({ agentName: "x" })] }),
      () => service.createRoom({ name: "with-egress", egress: new RoomEgress() }),
    ];
    for (const ask of missing)
      await assert.rejects(ask(), {
        code: "unimplemented",
        status: 501,
        message: /has no .*; configure a LiveKit server/,
      });
    assert.deepEqual(await service.listRooms(["with-agents", "with-egress"]), []);
  },
);

test("rights are kept: subscribing, publishing, data, being seen", async (context) => {
  const room = freshRoom();
  const alice = await stage.fromNode(context, { identity: "alice", room });
  const deaf = await stage.fromNode(context, { identity: "deaf", room, canSubscribe: false });
  const hidden = await stage.fromNode(context, { identity: "hidden", room, hidden: true });
  const silent = await stage.fromBrowser(context, { identity: "silent", room, canPublish: false });
  await alice.speak();
  await hears(silent, alice);
  await hears(hidden, alice);
  await silentAbout(deaf, alice);
  await assert.rejects(silent.speak());
  await silent.send("not allowed", { reliable: true }).catch(() => undefined);
  await alice.send("allowed", { reliable: true });
  await eventually({
    what: "data goes to all",
    look: () => hidden.messages(),
    until: (messages) => messages.some(({ text }) => text === "allowed"),
  });
  assert.ok(!(await hidden.messages()).some(({ text }) => text === "not allowed"));
  const others = await eventually({
    what: "alice knows of both others",
    look: () => alice.others(),
    until: (seen) => seen.length >= 2,
  });
  assert.deepEqual(others.map(({ identity }) => identity).sort(), ["deaf", "silent"]);
});

test("only who may change their own metadata does", async (context) => {
  const room = freshRoom();
  const alice = await stage.fromNode(context, { identity: "alice", room, canUpdateOwnMetadata: true });
  const bob = await stage.fromNode(context, { identity: "bob", room });
  await alice.setAttribute("mood", "good");
  await eventually({
    what: "bob sees alice's attribute",
    look: () => bob.others(),
    until: ([seen]) => seen?.attributes["mood"] === "good",
  });
  await bob.setAttribute("mood", "bad").catch(() => undefined); // not every client says that it was refused
  await bob.send("done", { reliable: true });
  await eventually({
    what: "alice hears of bob after that",
    look: () => alice.messages(),
    until: (messages) => messages.length > 0,
  });
  const [seen] = await eventually({
    what: "alice knows of bob",
    look: () => alice.others(),
    until: (others) => others.length > 0,
  });
  assert.deepEqual(seen?.attributes, {});
});

test("an empty room is closed after its time", async () => {
  await using target = await openOwnTarget({ timing: { emptyTimeoutS: 1, departureTimeoutS: 1 } });
  await target.service.createRoom({ name: "empty" });
  await eventually({
    what: "the room is closed",
    look: () => target.service.listRooms(),
    until: (rooms) => rooms.length === 0,
  });
});

async function performRpc(body: { room: string; [field: string]: unknown }): Promise<[number, unknown]> {
  const { httpUrl, apiKey, apiSecret } = stage.target;
  const token = new AccessToken(apiKey, apiSecret);
  token.addGrant({ roomAdmin: true, room: body.room });
  const answer = await fetch(`${httpUrl}/twirp/livekit.RoomService/PerformRpc`, {
    method: "POST",
    headers: { authorization: `Bearer ${await token.toJwt()}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return [answer.status, await answer.json()];
}

async function happens(attendee: Attendee, name: string, about?: string): Promise<void> {
  await eventually({
    what: `${attendee.identity} is told ${name} ${about ?? ""}`,
    look: () => attendee.events(),
    until: (events) =>
      events.some((event) => event.name === name && (about === undefined || event.about === about)),
  });
}
