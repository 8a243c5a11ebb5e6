import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { SignalResponse } from "@livekit/protocol";
import { WebSocket } from "ws";
import { until } from "../../../testing/wait.ts";
import { startRoomServer, type RoomServer } from "./room-server.ts";
import { signToken } from "./tokens.ts";

const KEY = { apiKey: "key", apiSecret: "a secret of thirty-two characters" };
const TOO_LARGE = 1e15; // for a number of the binary form

test("a protocol that is no number of one keeps nobody else out of the room", async () => {
  await using rooms = await openRooms();
  const mallory = await join(rooms, "mallory", `&client_protocol=${TOO_LARGE}`);
  const alice = await join(rooms, "alice");
  mallory.terminate();
  await until(() => rooms.listRooms()[0]?.numParticipants === 1, 5_000, "mallory gone");
  alice.terminate();
});

test("whoever names a kind of track that there cannot be is sent away, and nobody else", async () => {
  await using rooms = await openRooms();
  const alice = await join(rooms, "alice");
  const mallory = await join(rooms, "mallory");
  const left = once(mallory, "close");
  mallory.send(JSON.stringify({ addTrack: { cid: "voice", type: TOO_LARGE } }));
  const [code] = (await left) as [number];
  assert.equal(code, 1002);
  await until(() => rooms.listRooms()[0]?.numParticipants === 1, 5_000, "mallory gone");
  alice.terminate();
});

test("a service call with a number that cannot be changes nothing", async () => {
  await using rooms = await openRooms();
  const alice = await join(rooms, "alice");
  const admin = await signToken({ video: { roomAdmin: true, room: "lobby" } }, KEY);
  const answer = await fetch(
    `${rooms.url?.replace("ws", "http")}/twirp/livekit.RoomService/UpdateParticipant`,
    {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${admin}` },
      body: JSON.stringify({
        ...{ room: "lobby", identity: "alice" },
        permission: { canPublish: true, canPublishSources: [TOO_LARGE] },
      }),
    },
  );
  assert.equal(answer.status, 400);
  const bob = await join(rooms, "bob");
  for (const socket of [alice, bob]) socket.terminate();
});

function openRooms(): Promise<RoomServer> {
  return startRoomServer({ ...KEY, listen: { port: 0 }, media: { udpPort: 0 } });
}

async function join({ url }: RoomServer, identity: string, query = ""): Promise<WebSocket> {
  const token = await signToken({ identity, video: { roomJoin: true, room: "lobby" } }, KEY);
  const socket = new WebSocket(`${url}/rtc?access_token=${token}${query}`);
  const [data] = (await once(socket, "message")) as [Buffer];
  assert.equal(SignalResponse.fromBinary(data).message.case, "join");
  return socket;
}
