import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { WebSocket } from "ws";
import { patientMs } from "../../../testing/patience.ts";
import { evilRequests, evilUpgrades, type EvilBot } from "./testing/evil-bots.ts";
import { startFakeController } from "./testing/fake-controller.ts";
import { startFakeInstance, startRawInstance } from "./testing/fake-instance.ts";
import type { ChildMessage, ChildOptions } from "./testing/gateway-child.ts";
import { hostilePaths } from "./testing/hostile-paths.ts";
import { SESSION, SESSION_PATH, startRig } from "./testing/start-rig.ts";
import { until, within } from "../../../testing/wait.ts";

const route = (address: string) => ({ sessionId: SESSION, address, token: "instance-token" });

for (const [what, lineBreak] of [
  ["line breaks", "%0d%0a"],
  ["letters that end in the bytes of line breaks", encodeURIComponent("\u010d\u010a")],
])
  test(`a token of a room with ${what} is no more than a token`, async () => {
    const heard: string[] = [];
    const rooms = createServer((socket) => {
      socket.setEncoding("latin1").on("data", (text: string) => heard.push(text));
      socket.on("error", () => undefined).end("HTTP/1.1 401 Unauthorized\r\n\r\n");
    }).listen(0, "127.0.0.1");
    await once(rooms, "listening");
    await using rig = await startRig();
    rig.gateway.setRoomServer(`127.0.0.1:${(rooms.address() as AddressInfo).port}`);
    const more = ["x", "", "POST /twirp/livekit.RoomService/ListRooms HTTP/1.1", "Host: x", "", ""];
    const { status } = await rig.refused(
      `/rtc?access_token=${more.map(encodeURIComponent).join(lineBreak).replaceAll("%2F", "/")}`,
    );
    assert.equal(status, 502);
    rooms.close();
    assert.equal(heard.join("").split("\r\n\r\n").length, 2, heard.join(""));
    assert.doesNotMatch(heard.join(""), /^POST /m);
  });

test("three hundred hostile paths reach nobody", async () => {
  await using rig = await startRig();
  await using canary = await startFakeInstance();
  rig.controller.sessionRoute = () => route(canary.address);
  const paths = hostilePaths(canary.address);
  assert.ok(paths.length >= 300, String(paths.length));
  const withEcho = await rig.fetch(`${SESSION_PATH}/fine`);
  assert.equal(withEcho.status, 200);
  for (const path of paths) {
    for (const upgrade of [
      "",
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
    ]) {
      const told = await rig.raw(
        `GET ${path} HTTP/1.1\r\nHost: x\r\n${upgrade || "Connection: close\r\n"}\r\n`,
      );
      assert.match(told, /^HTTP\/1\.1 40\d /, JSON.stringify(path));
    }
  }
  assert.equal(canary.connections, 1, "only the request that was fine");
});

test("what is no HTTP is refused, and the gateway lives", async () => {
  await using rig = await startRig({ timing: { headersMs: 1_500 } });
  const ok = "Host: x\r\nConnection: close\r\n";
  const table: [string, RegExp][] = [
    ["\0\0\0\0\r\n\r\n", /^HTTP\/1.1 400/],
    ["GET\r\n\r\n", /^HTTP\/1.1 400/],
    [`GET / HTTP/1.1\r\nConnection: close\r\n\r\n`, /^HTTP\/1.1 400/],
    [`GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n`, /^HTTP\/1.1 400/],
    [`GET http://x/internal HTTP/1.1\r\n${ok}\r\n`, /^HTTP\/1.1 400/],
    [`CONNECT x:80 HTTP/1.1\r\n${ok}\r\n`, /^HTTP\/1.1 405/],
    [`OPTIONS * HTTP/1.1\r\n${ok}\r\n`, /^HTTP\/1.1 400/],
    [`GET /${"a".repeat(17_000)} HTTP/1.1\r\n${ok}\r\n`, /^HTTP\/1.1 431/],
    [`GET / HTTP/1.1\r\n${ok}${"x: y\r\n".repeat(2_900)}\r\n`, /^HTTP\/1.1 431/],
    [`POST / HTTP/1.1\r\n${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, /^HTTP\/1.1 400/],
    [
      `POST / HTTP/1.1\r\n${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      /^HTTP\/1.1 400/,
    ],
    [`POST / HTTP/1.1\r\n${ok}Transfer-Encoding: gzip\r\n\r\n`, /^HTTP\/1.1 400/],
    [`GET / HTTP/1.1\r\n${ok}x : y\r\n\r\n`, /^HTTP\/1.1 400/],
    [`GET / HTTP/1.1\r\n${ok}x: a\0b\r\n\r\n`, /^HTTP\/1.1 400/],
    [`GET / HTTP/9.9\r\n${ok}\r\n`, /^HTTP\/1.1 (400|505)/],
    [`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`, /^HTTP\/1.1 400/],
    ["GET / HTTP/1.1\r\nHost: x\r\n", /^HTTP\/1.1 408/],
    [
      `GET /ws/generic/a.b HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      /^HTTP\/1.1 400/,
    ],
    [
      `POST /ws/generic/a.b HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n\r\nabc`,
      /^HTTP\/1.1 400/,
    ],
    [`GET / HTTP/1.1\r\n${ok}Upgrade: h2c\r\n\r\n`, /^HTTP\/1.1 404/],
  ];
  for (const [bytes, expected] of table) {
    const told = await within(rig.raw(bytes), 5_000, `answer to ${JSON.stringify(bytes.slice(0, 80))}`);
    assert.match(told, expected, JSON.stringify(bytes.slice(0, 80)));
    assert.doesNotMatch(told, /node:|\.ts:|Error:/);
  }
  assert.equal((await rig.fetch("/healthz")).status, 200);
});

test("fifty evil bots neither fatten the gateway nor disturb another call", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "gateway-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const controllerSocket = join(folder, "controller.sock");
  const controller = stack.use(await startFakeController(controllerSocket));
  const instance = stack.use(await startFakeInstance());
  const child = await startChild({
    controllerSocket,
    timing: {
      routeFreshMs: 0,
      instanceAnswerMs: 1_000,
      instanceUpgradeMs: 1_000,
      goodbyeMs: 500,
      stalledMs: 2_000,
    },
  });
  stack.defer(child.stop);
  let evilAddress = "";
  controller.socketRoute = ({ serviceHost }) => ({
    ...route(serviceHost === "good.org" ? instance.address : evilAddress),
    path: "/ws-client/x",
  });
  controller.sessionRoute = () => route(evilAddress);
  const good = await startEcho(`ws://127.0.0.1:${child.port}/ws/generic/good.org`);
  const before = await child.memory();
  for (const [name, bot] of Object.entries(evilRequests)) {
    await using evil = await startRawInstance(afterHead(bot));
    evilAddress = evil.address;
    await within(
      askOnce(child.port, `${SESSION_PATH}/${encodeURIComponent(name.slice(0, 5))}`),
      10_000,
      name,
    );
  }
  for (const [name, { opens, bot }] of Object.entries(evilUpgrades)) {
    await using evil = await startRawInstance(afterHead(bot));
    evilAddress = evil.address;
    const opened = await within(openOnce(`ws://127.0.0.1:${child.port}/ws/generic/evil.org`), 10_000, name);
    assert.equal(opened, opens, name);
    assert.equal(evil.connections, 1, name);
  }
  const after = await child.memory();
  const { sent, echoed, longestMs } = await good.stop();
  assert.equal(echoed, sent);
  assert.ok(longestMs < patientMs(500), `an echo took ${longestMs} ms`);
  assert.ok(after - before < 50_000_000, `grew by ${after - before}`);
  assert.ok(Object.keys(evilRequests).length + Object.keys(evilUpgrades).length >= 50);
});

async function startChild(options: ChildOptions) {
  const child = fork(new URL("testing/gateway-child.ts", import.meta.url), [JSON.stringify(options)], {
    execArgv: ["--conditions=@vocalhost/source", "--expose-gc"],
  });
  const next = async (): Promise<ChildMessage> => ((await once(child, "message")) as [ChildMessage])[0];
  const ready = await next();
  return {
    port: ready.kind === "ready" ? ready.port : assert.fail(),
    async memory(): Promise<number> {
      child.send("memory");
      const told = await next();
      return told.kind === "memory" ? told.bytes : assert.fail();
    },
    async stop() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function afterHead(bot: EvilBot): Parameters<typeof startRawInstance>[0] {
  return (socket) => socket.once("data", (head: Buffer) => bot(socket, head.toString("latin1")));
}

/** Reads the first bytes of the answer, then disconnects. */
async function askOnce(port: number, path: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const sent = request({ host: "127.0.0.1", port, path, agent: false });
  sent.on("error", () => resolve());
  sent.on("response", (told) => {
    assert.equal(told.headers["set-cookie"], undefined);
    let bytes = 0;
    told.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > 4_000_000) resolve();
    });
    told.on("error", () => resolve()).on("close", () => resolve());
    setTimeout(resolve, 1_500);
  });
  sent.end();
  await promise;
  sent.destroy();
}

async function openOnce(url: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = new WebSocket(url, { perMessageDeflate: false });
  let bytes = 0;
  let opened = false;
  socket.on("error", () => resolve(opened)).on("close", () => resolve(opened));
  socket.on("message", (data: Buffer) => {
    bytes += data.length;
    if (bytes > 10_000) resolve(opened);
  });
  socket.once("open", () => {
    opened = true;
    setTimeout(() => resolve(true), 300);
  });
  const isOpened = await promise;
  socket.terminate();
  return isOpened;
}

async function startEcho(url: string) {
  const socket = new WebSocket(url);
  await once(socket, "open");
  const sentAtMs: number[] = [];
  let echoed = 0;
  let longestMs = 0;
  socket.on("message", (data: Buffer) => {
    assert.equal(data.toString(), String(echoed));
    longestMs = Math.max(longestMs, performance.now() - (sentAtMs[echoed] ?? 0));
    echoed += 1;
  });
  const timer = setInterval(() => {
    sentAtMs.push(performance.now());
    socket.send(String(sentAtMs.length - 1));
  }, 20);
  return {
    async stop() {
      clearInterval(timer);
      await until(() => echoed === sentAtMs.length, 2_000, "last echo");
      socket.terminate();
      return { sent: sentAtMs.length, echoed, longestMs };
    },
  };
}
