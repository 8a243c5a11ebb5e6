import { AppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import type { SocketRouteRequest } from "@vocalhost/base/peers/controller-api";
import { acceptFor } from "./open-instance-socket.ts";
import { startFakeInstance, startRawInstance } from "./testing/fake-instance.ts";
import { closedOf, nextOf, SESSION, SESSION_PATH, startRig } from "./testing/start-rig.ts";
import { patientMs } from "../../../testing/patience.ts";
import { until, within } from "../../../testing/wait.ts";

const route = (address: string) => ({ sessionId: SESSION, address, token: "instance-token" });
const socketRoute = (address: string) => ({ ...route(address), path: `/ws-client/${SESSION}` });
const GENERIC = "/ws/generic/parrot.home";

test("text, binary, large and fragmented messages pass both ways untouched", async () => {
  await using rig = await startRig();
  await using instance = await startFakeInstance();
  rig.controller.socketRoute = () => socketRoute(instance.address);
  const socket = await rig.open(GENERIC, {
    headers: { "x-own": "1", cookie: "a=1", "x-forwarded-for": "1" },
  });
  const { headers, url } = instance.requests[0] ?? assert.fail();
  assert.equal(url, `/ws-client/${SESSION}`);
  assert.equal(headers.authorization, "Bearer instance-token");
  assert.equal(headers["x-own"], "1");
  for (const name of ["cookie", "x-forwarded-for", "sec-websocket-extensions"])
    assert.equal(headers[name], undefined, name);
  socket.send("grüße");
  assert.equal(await nextOf(socket), "grüße");
  socket.send(Buffer.from("00ff10", "hex"));
  assert.equal(await nextOf(socket), "00ff10");
  const large = randomBytes(1024 * 1024);
  socket.send(large);
  assert.equal(await nextOf(socket), large.toString("hex"));
  socket.send("frag", { fin: false });
  socket.send("men", { fin: false });
  socket.ping("between");
  socket.send("ted", { fin: true });
  assert.equal(await nextOf(socket), "fragmented");
  const numbers: number[] = [];
  socket.on("message", (data: Buffer) => numbers.push(Number(data.toString())));
  for (let count = 0; count < 500; count++) socket.send(String(count));
  await until(() => numbers.length === 500, 2_000, "echo");
  assert.deepEqual(numbers, [...numbers.keys()]);
  socket.close(4_001, "enough");
  assert.deepEqual(await closedOf(socket), { code: 4_001, reason: "enough" });
  await until(
    () => rig.controller.asked.some(({ path }) => path === "/internal/session-left"),
    2_000,
    "news",
  );
  assert.deepEqual(rig.controller.asked.at(-1)?.body, { sessionId: SESSION });
});

test("close codes of both sides arrive at the other", async () => {
  await using rig = await startRig();
  const seen: number[] = [];
  await using instance = await startFakeInstance({
    onSocket(socket) {
      socket.on("message", (data: Buffer) => socket.close(Number(data.toString()), "bye"));
      socket.on("close", (code) => seen.push(code));
    },
  });
  rig.controller.socketRoute = () => socketRoute(instance.address);
  for (const code of [1000, 1001, 1011, 3_000, 4_999]) {
    const asked = await rig.open(GENERIC);
    asked.send(String(code));
    assert.deepEqual(await closedOf(asked), { code, reason: "bye" });
    const own = await rig.open(GENERIC);
    own.close(code === 1001 ? 1000 : code);
    await closedOf(own);
  }
  await until(() => seen.length === 10, 2_000, "ten ends");
  assert.deepEqual(seen, [1000, 1000, 1001, 1000, 1011, 1011, 3_000, 3_000, 4_999, 4_999]);
});

test("a subprotocol is passed on and the instance's choice comes back", async () => {
  await using rig = await startRig();
  await using instance = await startFakeInstance({ protocol: "two" });
  rig.controller.socketRoute = () => socketRoute(instance.address);
  const socket = await rig.open(GENERIC, { protocols: ["one", "two"] });
  assert.equal(socket.protocol, "two");
  assert.equal(instance.requests[0]?.headers["sec-websocket-protocol"], "one, two");
  socket.terminate();
});

test("a bot's own socket in a session is reached through the session proxy", async () => {
  await using rig = await startRig();
  await using instance = await startFakeInstance();
  rig.controller.sessionRoute = () => route(instance.address);
  const socket = await rig.open(`${SESSION_PATH}/my/socket?a=1`, { headers: { authorization: "Bearer pk" } });
  assert.equal(instance.requests[0]?.url, `/sessions/${SESSION}/my/socket?a=1`);
  assert.equal(instance.requests[0]?.headers.authorization, "Bearer instance-token");
  socket.send("x");
  assert.equal(await nextOf(socket), "x");
  for (const path of ["/ws", "/ws-client/x", "/bot", "/instance/events", "/instance", "/readyz"])
    assert.equal((await rig.refused(SESSION_PATH + path)).status, 404, path);
  assert.equal(instance.connections, 1);
  rig.controller.sessionRoute = () => {
    throw new AppError("UNAUTHORIZED");
  };
  assert.equal((await rig.refused(`${SESSION_PATH}/my/socket`)).status, 401);
  assert.equal((await rig.refused("/v1/agents")).status, 404);
  socket.terminate();
});

test("what an address tells is asked for as it is, and refusals come instead of the upgrade", async () => {
  await using rig = await startRig();
  await using instance = await startFakeInstance();
  const asked: SocketRouteRequest[] = [];
  rig.controller.socketRoute = (question) => {
    asked.push(question);
    return socketRoute(instance.address);
  };
  const body = Buffer.from('{"a":"~~?>"}').toString("base64");
  const table: [string, Record<string, string>, SocketRouteRequest][] = [
    ["/ws/generic/a.org", {}, { ingress: "generic", serviceHost: "a.org" }],
    ["/ws/generic/a.org/t.1", {}, { ingress: "generic", serviceHost: "a.org", token: "t.1" }],
    [`/ws/generic?serviceHost=a.org&body=${body}`, {}, { ingress: "generic", serviceHost: "a.org", body }],
    ["/ws/generic/t?serviceHost=a.org", {}, { ingress: "generic", serviceHost: "a.org", token: "t" }],
    ["/ws/generic/a.org/p?token=q", {}, { ingress: "generic", serviceHost: "a.org", token: "q" }],
    [
      "/ws/generic/a.org/p?token=q",
      { authorization: "Bearer r" },
      { ingress: "generic", serviceHost: "a.org", token: "r" },
    ],
    ["/ws/telnyx?serviceHost=a.org", {}, { ingress: "telnyx", serviceHost: "a.org" }],
    ["/ws/plivo/t?serviceHost=a.org", {}, { ingress: "plivo", serviceHost: "a.org", token: "t" }],
    ["/ws/telnyx/t", {}, { ingress: "telnyx", token: "t" }],
    ["/ws/twilio/a.org", {}, { ingress: "twilio", serviceHost: "a.org" }],
    [`/ws/twilio/${"t".repeat(65)}.s`, {}, { ingress: "twilio", token: `${"t".repeat(65)}.s` }],
    ["/ws/exotel/a.org/t", {}, { ingress: "exotel", serviceHost: "a.org", token: "t" }],
    ["/ws/twilio/t?serviceHost=a.org", {}, { ingress: "twilio", serviceHost: "a.org", token: "t" }],
  ];
  for (const [path, headers, expected] of table) {
    const socket = await rig.open(path, { headers });
    assert.deepEqual(asked.pop(), expected, path);
    socket.terminate();
  }
  const big = Buffer.from(JSON.stringify("x".repeat(4_095))).toString("base64url");
  const refusals: [string, number][] = [
    ["/ws/other?serviceHost=a.org", 404],
    ["/ws", 404],
    ["/ws/generic", 400],
    ["/ws/telnyx", 400],
    ["/ws/generic/nodot", 404],
    ["/ws/generic/a.org/t/u", 404],
    ["/ws/generic/..%2fx.org", 400],
    [`/ws/generic/a.org?body=${big}`, 413],
    ["/ws/generic/a.org?body=%%%", 400],
    ["/ws/generic/a.org?body=bm90IGpzb24", 400],
    [`/ws/generic/a.org?token=${"t".repeat(3_000)}`, 403],
  ];
  for (const [path, status] of refusals) assert.equal((await rig.refused(path)).status, status, path);
  assert.deepEqual(asked, []);
  for (const code of [
    "TOKEN_INVALID",
    "NOT_FOUND",
    "AGENT-AT-CAPACITY",
    "SERVICE_UNAVAILABLE",
    "START_TIMED_OUT",
  ] as const) {
    rig.controller.socketRoute = () => {
      throw new AppError(code);
    };
    const told = await rig.refused(GENERIC);
    const expected = new AppError(code);
    assert.deepEqual([told.status, JSON.parse(told.body).code], [expected.status, code]);
    assert.equal(told.headers["retry-after"], expected.retryable ? "7" : undefined);
  }
});

test("fifty uses of one token at once give one call", async () => {
  await using rig = await startRig();
  await using instance = await startFakeInstance();
  let uses = 0;
  rig.controller.socketRoute = async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (++uses > 1) throw new AppError("TOKEN_INVALID");
    return socketRoute(instance.address);
  };
  const results = await Promise.allSettled(
    Array.from({ length: 50 }, () => rig.open(`${GENERIC}/one-token`)),
  );
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal(instance.connections, 1);
  assert.equal(uses, 50);
});

test("no call drops when the controller is killed and comes back", async () => {
  await using rig = await startRig({ timing: { controllerAwayMs: 300 } });
  await using instance = await startFakeInstance();
  rig.controller.socketRoute = () => socketRoute(instance.address);
  const sockets = await Promise.all(Array.from({ length: 20 }, () => rig.open(GENERIC)));
  let drops = 0;
  for (const socket of sockets) socket.on("close", () => (drops += 1));
  await rig.controller.kill();
  assert.equal((await rig.refused(GENERIC)).status, 503);
  for (const socket of sockets) socket.send("alone");
  for (const socket of sockets) assert.equal(await nextOf(socket), "alone");
  await rig.controller.start();
  const late = await rig.open(GENERIC);
  for (const socket of sockets) socket.send("together");
  for (const socket of sockets) assert.equal(await nextOf(socket), "together");
  assert.equal(drops, 0);
  for (const socket of [...sockets, late]) socket.terminate();
});

test("a client hears 1011 when its instance is killed, also between two fragments", async () => {
  await using rig = await startRig();
  await using instance = await startFakeInstance();
  rig.controller.socketRoute = () => socketRoute(instance.address);
  const plain = await rig.open(GENERIC);
  const fragmented = await rig.open(GENERIC); // the instance's second socket
  fragmented.send("x");
  await nextOf(fragmented);
  instance.sockets[1]?.send("half", { fin: false });
  instance.sockets[1]?.ping();
  await once(fragmented, "ping");
  const ends = Promise.all([closedOf(plain), closedOf(fragmented)]);
  await instance.kill();
  for (const { code } of await within(ends, 2_000, "close")) assert.equal(code, 1011);
});

test("a client that vanishes takes its instance's socket with it", async () => {
  await using rig = await startRig();
  await using instance = await startFakeInstance();
  rig.controller.socketRoute = () => socketRoute(instance.address);
  const socket = await rig.open(GENERIC);
  const end = closedOf(instance.sockets[0] ?? assert.fail());
  socket.terminate();
  assert.equal((await within(end, 2_000, "close")).code, 1006);
});

test("a client that leaves during the claim leaves no socket at the instance", async () => {
  await using rig = await startRig();
  await using instance = await startFakeInstance();
  const claim = Promise.withResolvers<void>();
  rig.controller.socketRoute = async () => {
    await claim.promise;
    return socketRoute(instance.address);
  };
  const opening = rig.open(GENERIC, { handshakeTimeout: 100 });
  await assert.rejects(opening);
  claim.resolve();
  await until(
    () => rig.controller.asked.some(({ path }) => path === "/internal/session-left"),
    2_000,
    "news",
  );
  assert.equal(instance.connections, 0);
});

test("a client that leaves while the instance makes up its mind is not held", async () => {
  await using rig = await startRig();
  let ended = false;
  await using instance = await startRawInstance((socket) => {
    socket.on("close", () => (ended = true));
    setTimeout(() => answerUpgrade(socket, () => undefined), 300);
  });
  rig.controller.sessionRoute = () => route(instance.address);
  await assert.rejects(rig.open(`${SESSION_PATH}/socket`, { handshakeTimeout: 100 }));
  await until(() => ended, 2_000, "end at the instance");
});

test("peers that fall silent are given up where pings are due", async () => {
  await using rig = await startRig({ timing: { silentMs: patientMs(150) } });
  const ends: number[] = [];
  await using instance = await startFakeInstance({
    onSocket(socket, request) {
      socket.on("close", (code) => ends.push(code));
      if (request.headers["x-ping"]) setInterval(() => socket.ping(), 100).unref();
    },
  });
  rig.controller.socketRoute = () => socketRoute(instance.address);
  const silentInstance = await rig.open(GENERIC);
  const alive = await rig.open(GENERIC, { headers: { "x-ping": "1" } });
  const silentClient = await rig.open(GENERIC, { headers: { "x-ping": "1" }, autoPong: false });
  const closed = Promise.all([closedOf(silentInstance), closedOf(silentClient)]);
  const codes = (await within(closed, 3_000, "close")).map(({ code }) => code);
  assert.deepEqual(codes, [1011, 1006]);
  assert.equal(alive.readyState, alive.OPEN);
  alive.terminate();
});

test("a client that does not read holds its instance up in bounded memory, then is closed with 1013", async () => {
  const stalledMs = patientMs(300);
  await using rig = await startRig({ timing: { stalledMs } });
  let offered = 0;
  let taken = 0;
  await using instance = await startRawInstance((socket) => {
    answerUpgrade(socket, () => {
      const chunk = frame(60_000);
      const pump = (): void => {
        while (!socket.destroyed && socket.writableLength < 1_000_000) {
          offered += chunk.length;
          socket.write(chunk, () => (taken += chunk.length));
        }
        if (!socket.destroyed) setTimeout(pump, 5);
      };
      pump();
    });
  });
  rig.controller.socketRoute = () => socketRoute(instance.address);
  const before = process.memoryUsage().rss;
  const socket = await rig.open(GENERIC);
  socket.pause();
  await until(() => offered > 1_000_000, 5_000, "flood");
  await new Promise((resolve) => setTimeout(resolve, 500));
  const takenWhileHeld = taken;
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(taken, takenWhileHeld, "nothing more is taken");
  assert.ok(process.memoryUsage().rss - before < 50_000_000);
  setTimeout(() => socket.resume(), stalledMs + 300);
  const { code } = await within(closedOf(socket), 6_000, "close");
  assert.ok(code === 1013 || code === 1006, String(code));
});

test("a gateway that is disposed lets calls go on for a moment, then says 1001", async () => {
  const rig = await startRig({ timing: { disposeMs: 300 } });
  await using instance = await startFakeInstance();
  rig.controller.socketRoute = () => socketRoute(instance.address);
  const socket = await rig.open(GENERIC);
  const end = closedOf(socket);
  const disposed = Promise.resolve(rig[Symbol.asyncDispose]());
  socket.send("still here");
  assert.equal(await nextOf(socket), "still here");
  assert.equal((await within(end, 3_000, "close")).code, 1001);
  await within(disposed, 3_000, "disposal");
});

/** An unmasked binary frame. */
function frame(bytes: number): Buffer {
  const built = Buffer.alloc(4 + bytes);
  built[0] = 0x82;
  built[1] = 126;
  built.writeUInt16BE(bytes, 2);
  return built;
}

function answerUpgrade(socket: Socket, then: () => void): void {
  socket.once("data", (head: Buffer) => {
    const key = /sec-websocket-key: (\S+)/i.exec(head.toString("latin1"))?.[1] ?? "";
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        `Sec-WebSocket-Accept: ${acceptFor(key)}\r\n\r\n`,
    );
    then();
  });
}
