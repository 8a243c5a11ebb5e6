import { AppError, type ErrorCode } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import type { SocketRouteRequest } from "@vocalhost/base/peers/controller-api";
import { clientFrame, twilioOpening } from "./testing/client-frames.ts";
import { startFakeInstance } from "./testing/fake-instance.ts";
import { closedOf, SESSION, startRig, type Rig } from "./testing/start-rig.ts";
import { patientMs } from "../../../testing/patience.ts";
import { until, within } from "../../../testing/wait.ts";

const MEDIA = JSON.stringify({ event: "media", streamSid: "MZ1", media: { payload: "AAAA" } });

async function startTwilio(timing: object = {}) {
  const rig = await startRig({ timing });
  const heard: string[][] = [];
  const instance = await startFakeInstance({
    onSocket(socket) {
      const messages: string[] = [];
      heard.push(messages);
      socket.on("message", (data: Buffer) => {
        messages.push(data.toString());
        socket.send(`heard ${messages.length}`);
      });
    },
  });
  const asked: SocketRouteRequest[] = [];
  rig.controller.socketRoute = (question) => {
    asked.push(question);
    return { sessionId: SESSION, address: instance.address, token: "t", path: `/ws/${SESSION}` };
  };
  return {
    rig,
    instance,
    heard,
    asked,
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]();
      await instance[Symbol.asyncDispose]();
    },
  };
}

/** Opens a WebSocket and returns its raw TCP socket. */
async function openRaw(rig: Rig, path: string): Promise<Socket> {
  const socket = connect(rig.gateway.port, "127.0.0.1");
  socket.setNoDelay(true).on("error", () => undefined);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
  );
  const [head] = (await once(socket, "data")) as [Buffer];
  assert.match(head.toString("latin1"), /^HTTP\/1\.1 101 /);
  return socket;
}

test("Twilio names the agent in its start message, and the instance hears everything from the beginning", async () => {
  await using twilio = await startTwilio();
  const { rig, heard, asked, instance } = twilio;
  const [connected = "", start = ""] = twilioOpening({ _serviceHost: "parrot.home", _token: "tok" });
  const socket = await rig.open("/ws/twilio");
  socket.send(connected);
  socket.send(start);
  for (let count = 0; count < 50; count++) socket.send(MEDIA);
  await until(() => heard[0]?.length === 52, 2_000, "messages");
  assert.deepEqual(heard[0], [connected, start, ...Array<string>(50).fill(MEDIA)]);
  assert.deepEqual(asked, [{ ingress: "twilio", serviceHost: "parrot.home", token: "tok" }]);
  assert.equal(instance.requests[0]?.url, `/ws/${SESSION}`);
  socket.close(1000);
  assert.equal((await closedOf(socket)).code, 1000);
});

test("a token names the agent too: in the path before the upgrade, in the message after it", async () => {
  await using twilio = await startTwilio();
  const { rig, asked } = twilio;
  const early = await rig.open("/ws/twilio/path-token");
  assert.deepEqual(asked, [{ ingress: "twilio", token: "path-token" }]);
  const late = await rig.open("/ws/twilio");
  for (const message of twilioOpening({ _token: "tok" })) late.send(message);
  await until(() => asked.length === 2, 2_000, "question");
  assert.deepEqual(asked[1], { ingress: "twilio", token: "tok" });
  rig.controller.socketRoute = () => {
    throw new AppError("TOKEN_INVALID");
  };
  assert.equal((await rig.refused("/ws/twilio/path-token")).status, 403);
  for (const socket of [early, late]) socket.terminate();
});

test("opening frames cut at any byte arrive whole", async () => {
  await using twilio = await startTwilio();
  const [connected = "", start = ""] = twilioOpening({ _serviceHost: "parrot.home" });
  const half = Math.floor(start.length / 2);
  const opening = Buffer.concat([
    clientFrame(connected),
    clientFrame(start.slice(0, half), { isLast: false }),
    clientFrame(start.slice(half), { opcode: 0 }),
    clientFrame(MEDIA),
  ]);
  const cuts = Array.from({ length: opening.length + 1 }, (_, cut) => cut);
  const one = async (cut: number): Promise<void> => {
    const socket = await openRaw(twilio.rig, "/ws/twilio");
    socket.write(opening.subarray(0, cut));
    await new Promise((resolve) => setTimeout(resolve, 2));
    socket.write(opening.subarray(cut));
    let told = "";
    while (!told.includes("heard 3")) told += String((await once(socket, "data"))[0]);
    socket.destroy();
  };
  while (cuts.length > 0) await Promise.all(cuts.splice(0, 25).map(one));
  for (const messages of twilio.heard) assert.deepEqual(messages, [connected, start, MEDIA]);
  assert.equal(twilio.heard.length, opening.length + 1);
});

test("a refusal after the upgrade is a close code", async () => {
  await using twilio = await startTwilio({ openingMs: patientMs(100) });
  const { rig } = twilio;
  const refusals: [ErrorCode, number][] = [
    ["TOKEN_INVALID", 1008],
    ["NOT_FOUND", 1008],
    ["AGENT-AT-CAPACITY", 1013],
    ["SERVICE_UNAVAILABLE", 1013],
    ["START_TIMED_OUT", 1013],
    ["INTERNAL_SERVER_ERROR", 1011],
  ];
  for (const [code, expected] of refusals) {
    rig.controller.socketRoute = () => {
      throw new AppError(code);
    };
    const socket = await rig.open("/ws/twilio");
    const closed = closedOf(socket);
    for (const message of twilioOpening({ _serviceHost: "parrot.home" })) socket.send(message);
    assert.deepEqual(await within(closed, 2_000, code), { code: expected, reason: code });
  }
  const nameless = await rig.open("/ws/twilio");
  for (const message of twilioOpening({})) nameless.send(message);
  assert.equal((await closedOf(nameless)).code, 1008);
  const odd = await rig.open("/ws/twilio");
  for (const message of twilioOpening({ _serviceHost: "../x" })) odd.send(message);
  assert.equal((await closedOf(odd)).code, 1008);
  const silent = await rig.open("/ws/twilio");
  assert.equal((await within(closedOf(silent), 2_000, "close")).code, 1008);
  const long = await rig.open("/ws/twilio");
  long.send(JSON.stringify("x".repeat(70_000)));
  assert.equal((await closedOf(long)).code, 1009);
  await until(() => rig.log.length === 10, 2_000, "log");
});

test("a caller that hangs up while the instance is claimed reaches nobody", async () => {
  await using twilio = await startTwilio();
  const { rig, instance } = twilio;
  const claim = Promise.withResolvers<void>();
  const route = rig.controller.socketRoute;
  rig.controller.socketRoute = async (question) => {
    await claim.promise;
    return route(question);
  };
  const socket = await rig.open("/ws/twilio");
  for (const message of twilioOpening({ _serviceHost: "parrot.home" })) socket.send(message);
  await until(() => rig.controller.asked.length === 1, 2_000, "question");
  socket.terminate();
  await new Promise((resolve) => setTimeout(resolve, 50));
  claim.resolve();
  await until(() => rig.controller.asked.length === 2, 2_000, "news");
  assert.equal(rig.controller.asked[1]?.path, "/internal/session-left");
  assert.equal(instance.connections, 0);
});

test("a caller is not read without bounds while the instance is claimed", async () => {
  await using twilio = await startTwilio();
  const { rig, heard } = twilio;
  const claim = Promise.withResolvers<void>();
  const route = rig.controller.socketRoute;
  rig.controller.socketRoute = async (question) => {
    await claim.promise;
    return route(question);
  };
  const socket = await rig.open("/ws/twilio");
  for (const message of twilioOpening({ _serviceHost: "parrot.home" })) socket.send(message);
  const chunk = "x".repeat(10_000);
  for (let count = 0; count < 2_000; count++) socket.send(chunk);
  await until(() => rig.controller.asked.length === 1, 2_000, "question");
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(socket.bufferedAmount > 1_000_000, "the rest stays with the caller");
  claim.resolve();
  await until(() => heard[0]?.length === 2_002, 5_000, "all messages");
  socket.terminate();
});
