import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { listenOnLoopback } from "../../../testing/loopback-server.ts";
import { SessionDescription, SignalRequest, SignalResponse } from "@livekit/protocol";
import { WebSocket } from "ws";
import { until, within } from "../../../testing/wait.ts";
import { startRoomServer, type RoomServer } from "./room-server.ts";
import { signToken } from "./tokens.ts";
import { freePort } from "../../../testing/free-port.ts";

const KEY = { apiKey: "key", apiSecret: "a secret of thirty-two characters" };

test("inside another server it answers what is its own and leaves the rest", async () => {
  await using rooms = await startRoomServer({ ...KEY, listen: false, media: { udpPort: 0 } });
  assert.equal(rooms.url, undefined);
  await using host = await startHost(rooms);
  const statusOf = async (path: string): Promise<number> => (await fetch(`${host.url}${path}`)).status;
  assert.deepEqual(
    await Promise.all(["/elsewhere", "/rtc", "/rtc/validate", "/rtc/v1/validate"].map(statusOf)),
    [418, 404, 401, 404],
  );
  const token = await signToken({ identity: "alice", video: { roomJoin: true, room: "lobby" } }, KEY);
  const socket = new WebSocket(`${host.url.replace("http", "ws")}/rtc?access_token=${token}`);
  const [data] = (await once(socket, "message")) as [Buffer];
  const { message } = SignalResponse.fromBinary(data);
  assert.equal(message.case, "join");
  assert.deepEqual(
    rooms.listRooms().map(({ name, numParticipants }) => [name, numParticipants]),
    [["lobby", 1]],
  );
  socket.terminate();
});

test("participants are told of TURN servers, with credentials of their own", async () => {
  const turn = { urls: ["turn:turn.example.com"], secret: "north" };
  await using rooms = await startRoomServer({ ...KEY, turn, listen: { port: 0 }, media: { udpPort: 0 } });
  const token = await signToken({ identity: "alice", video: { roomJoin: true, room: "lobby" } }, KEY);
  const socket = new WebSocket(`${rooms.url}/rtc?access_token=${token}`);
  const [data] = (await once(socket, "message")) as [Buffer];
  const { message } = SignalResponse.fromBinary(data);
  assert.ok(message.case === "join");
  const { iceServers, participant } = message.value;
  const [server] = iceServers;
  assert.deepEqual([iceServers.length, server?.urls], [1, turn.urls]);
  const [expires, user] = server?.username.split(":") ?? [];
  assert.equal(user, participant?.sid);
  assert.ok(Number(expires) > Date.now() / 1000 + 3_600);
  const expected = createHmac("sha1", turn.secret).update(`${expires}:${user}`).digest("base64");
  assert.equal(server?.credential, expected);
  socket.terminate();
});

test("bots come in at the addresses they were given, to rooms only, and send media to the same address", async () => {
  const port = await freePort();
  const bots = { addresses: ["127.0.0.2"], port };
  await using rooms = await startRoomServer({ ...KEY, bots, listen: { port: 0 }, media: { udpPort: 0 } });
  const service = await fetch(`http://127.0.0.2:${port}/twirp/livekit.RoomService/ListRooms`, {
    method: "POST",
  });
  assert.equal(service.status, 404);
  await assert.rejects(fetch(`http://127.0.0.1:${port}/rtc/validate`), "another address of this machine");
  const token = await signToken({ identity: "bot", video: { roomJoin: true, room: "lobby" } }, KEY);
  const socket = new WebSocket(`ws://127.0.0.2:${port}/rtc?access_token=${token}`);
  const answer = Promise.withResolvers<string>();
  socket.on("message", (data: Buffer) => {
    const { message } = SignalResponse.fromBinary(data);
    if (message.case === "answer") answer.resolve(message.value.sdp);
  });
  await once(socket, "open");
  const value = new SessionDescription({ type: "offer", sdp: offerOfData() });
  socket.send(new SignalRequest({ message: { case: "offer", value } }).toBinary());
  const candidates = (await within(answer.promise, 15_000, "answer")).match(/^a=candidate:.*$/gm) ?? [];
  assert.deepEqual(
    new Set(candidates.map((line) => line.split(" ").slice(4, 6).join(":"))),
    new Set([`127.0.0.2:${rooms.udpPort}`]),
  );
  socket.terminate();
});

test("a UDP port that is taken is said at once", async () => {
  const taken = createSocket("udp4");
  taken.bind(0);
  await once(taken, "listening");
  const udpPort = taken.address().port;
  try {
    await assert.rejects(startRoomServer({ ...KEY, listen: false, media: { udpPort } }), /UDP port/);
  } finally {
    taken.close();
  }
});

test("a media process that died is replaced, even when its port is somebody else's by then", async () => {
  const ofOthers = mediaProcesses();
  await using rooms = await startRoomServer({ ...KEY, listen: { port: 0 }, media: { udpPort: 0 } });
  const before = rooms.udpPort;
  const [media] = mediaProcesses().filter((pid) => !ofOthers.includes(pid));
  assert(media, "there is no media process");
  process.kill(media, "SIGKILL");
  const thief = createSocket("udp6");
  try {
    await until(() => taken(thief, before), 5_000, "its port free");
    await until(() => rooms.udpPort !== before, 15_000, "another port");
    const token = await signToken({ identity: "alice", video: { roomJoin: true, room: "lobby" } }, KEY);
    const socket = new WebSocket(`${rooms.url}/rtc?access_token=${token}`);
    const heard: (string | undefined)[] = [];
    socket.on("message", (data: Buffer) => heard.push(SignalResponse.fromBinary(data).message.case));
    await until(() => heard.includes("offer"), 15_000, "offer of the new media process");
    socket.terminate();
  } finally {
    thief.close();
  }
});

function mediaProcesses(): number[] {
  const children = execFileSync("ps", ["-o", "pid=,args=", "--ppid", String(process.pid)], {
    encoding: "utf8",
  });
  const media = children.split("\n").filter((child) => child.includes("media-main"));
  return media.map((child) => Number.parseInt(child, 10));
}

function taken(socket: Socket, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once("error", () => resolve(false));
    socket.bind({ port, exclusive: true }, () => resolve(true));
  });
}

test("everybody is told when the server ends", async () => {
  const rooms = await startRoomServer({ ...KEY, listen: { port: 0 }, media: { udpPort: 0 } });
  const token = await signToken({ identity: "alice", video: { roomJoin: true, room: "lobby" } }, KEY);
  const socket = new WebSocket(`${rooms.url}/rtc?access_token=${token}`);
  const heard: (string | undefined)[] = [];
  socket.on("message", (data: Buffer) => heard.push(SignalResponse.fromBinary(data).message.case));
  await once(socket, "message");
  const closed = once(socket, "close");
  await rooms[Symbol.asyncDispose]();
  await closed;
  assert.equal(heard.at(-1), "leave");
});

async function startHost(rooms: RoomServer): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((request, response) => {
    if (!rooms.handleRequest(request, response)) response.writeHead(418).end();
  });
  server.on("upgrade", (request, socket, head) => {
    if (!rooms.handleUpgrade(request, socket, head)) socket.destroy();
  });
  const listening = await listenOnLoopback(server);
  return {
    url: listening.url,
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}

/** As a client sends it that wants nothing but data channels. */
function offerOfData(): string {
  return [
    "v=0",
    "o=- 1 0 IN IP4 127.0.0.1",
    "s=-",
    "t=0 0",
    "a=group:BUNDLE 0",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
    "c=IN IP4 0.0.0.0",
    "a=mid:0",
    "a=sendrecv",
    "a=sctp-port:5000",
    "a=setup:actpass",
    "a=ice-ufrag:abcd",
    "a=ice-pwd:abcdefghijklmnopqrstuvwx",
    `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => "AB").join(":")}`,
    "",
  ].join("\r\n");
}
