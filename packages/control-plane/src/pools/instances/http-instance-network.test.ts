import type { InstanceEvent, InstanceStart, InstanceStatus } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { test } from "node:test";
import { listenOnLoopback } from "../../../../../testing/loopback-server.ts";
import { silentLog, type Log } from "@vocalhost/base/log";
import { systemClock } from "@vocalhost/base/system-clock";
import { until } from "../../../../../testing/wait.ts";
import { openHttpInstanceNetwork } from "./http-instance-network.ts";
import { InstanceCallError, type InstanceTarget } from "./instance-network.ts";

const SESSION_ID = "0f0f4c0e-5c3d-4f7e-9f27-0a6b8e6d1c11";
const START: InstanceStart = {
  epoch: 1,
  sessionId: SESSION_ID,
  transport: "websocket",
  body: {},
  maxDurationMs: 1_000,
  connectDeadlineMs: 1_000,
  filter: null,
  connect: { kind: "socket" },
};

test("news are passed on at once, heartbeats are not, and both renew the report", async () => {
  await using instance = await listenAsInstance();
  const { network, heard } = listenTo(instance, { heartbeatMs: 60_000 });
  using _ = network;
  const stream = await instance.nextStream();

  await say(stream, { ready: false });
  assert.equal(heard.length, 1, "the first word is news");
  await say(stream, { ready: false, cpuMs: 17 });
  assert.equal(heard.length, 1);
  assert.equal(network.report("i1")?.status.cpuMs, 17);
  await say(stream, { ready: true });
  assert.equal(heard.length, 2, "ready");
  await say(stream, { ready: true, session: sessionThat("waiting") });
  assert.equal(heard.length, 2, "taken: the start that gave it knows");
  await say(stream, { ready: true, session: sessionThat("running") });
  await say(stream, { ready: true, session: { ...sessionThat("running"), elapsedMs: 2_000 } });
  assert.equal(heard.length, 2);
  await say(stream, { ready: false, session: sessionThat("ended") });
  assert.equal(heard.length, 3, "ended");

  async function say(to: ServerResponse, status: Partial<InstanceStatus>): Promise<void> {
    const marked = { ...status, memoryBytes: (network.report("i1")?.status.memoryBytes ?? 0) + 1 };
    to.write(lineOf(marked));
    await until(
      () => network.report("i1")?.status.memoryBytes === marked.memoryBytes,
      20_000,
      "report of it",
    );
  }
});

test("silence counts as missed heartbeats and wakes, until there is a word again", async () => {
  await using instance = await listenAsInstance();
  const { network, heard } = listenTo(instance, { heartbeatMs: 20 });
  using _ = network;
  const stream = await instance.nextStream();
  stream.write(lineOf({ ready: true }));
  await until(() => network.missed("i1") >= 2, 20_000, "missed heartbeats");
  assert.ok(heard.length >= 3);
  const sound = setInterval(() => stream.write(lineOf({ ready: true })), 5);
  await until(() => network.missed("i1") === 0, 20_000, "heartbeat");
  clearInterval(sound);
});

test("a line without an end is cut off, and the instance is listened to anew", async () => {
  await using instance = await listenAsInstance();
  const { network } = listenTo(instance, { heartbeatMs: 500 });
  using _ = network;
  const flood = await instance.nextStream();
  flood.write("x".repeat(1024 * 1024 + 1));
  await once(flood, "close");
  const stream = await instance.nextStream();
  stream.write(lineOf({ ready: true }));
  await until(() => network.report("i1"), 20_000, "report");
  assert.equal(network.report("i1")?.status.ready, true);
});

const FLOODS: [string, string][] = [
  ["nothing", "\n"],
  ["that it is ready, and that it is not", lineOf({ ready: true }) + lineOf({ ready: false })],
];

for (const [what, text] of FLOODS)
  test(`one that says ${what} without a pause is not listened to without one`, async () => {
    await using instance = await listenAsInstance();
    const warned: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, sentence: string) => void warned.push(sentence) };
    const { network, heard } = listenTo(instance, { heartbeatMs: 3_000, log });
    using _ = network;
    const flood = await instance.nextStream();
    flood.write(text.repeat(10_000));
    await once(flood, "close");
    assert.ok(warned.length <= 1 && heard.length <= 10, `${warned.length} warnings, ${heard.length} news`);
    const hungUpAtMs = performance.now();
    const stream = await instance.nextStream();
    assert.ok(performance.now() - hungUpAtMs > 2_000, "it has to wait");
    stream.write(lineOf({ memoryBytes: 7 }));
    await until(() => network.report("i1")?.status.memoryBytes === 7, 20_000, "report");
  });

test("an answer that is no event stream is not read to its end", async () => {
  let ended = 0;
  const server = createServer((_request, response) => {
    response.writeHead(500).flushHeaders();
    response.on("close", () => (ended += 1));
    const pouring = setInterval(() => response.write("x".repeat(1024)), 5);
    response.on("close", () => clearInterval(pouring));
  });
  await using address = await listenOnLoopback(server);
  const { network } = listenTo({ target: { id: "i1", address: address.host } }, { heartbeatMs: 60_000 });
  using _ = network;
  await until(() => ended >= 2, 20_000, "end of the answer");
});

test("a start goes over a connection that has been there since the instance said it is ready", async () => {
  await using instance = await listenAsInstance();
  const network = await listenToReady(instance);
  using _ = network;
  assert.equal(instance.connections(), 2, "one to listen, one to speak");
  await network.start(instance.target, START, 20_000);
  assert.deepEqual(instance.asked.slice(-2), ["GET /instance", "POST /instance/start"]);
  assert.equal(instance.connections(), 2);
});

test("an instance with a session is not connected to ahead", async () => {
  await using instance = await listenAsInstance();
  const { network } = listenTo(instance, { heartbeatMs: 60_000 });
  using _ = network;
  const stream = await instance.nextStream();
  stream.write(lineOf({ ready: true, session: sessionThat("running") }));
  await until(() => network.report("i1"), 20_000, "report");
  await network.stop(instance.target, { epoch: 1, sessionId: SESSION_ID, reason: "stopped" });
  assert.deepEqual(instance.asked, ["GET /instance/events", "POST /instance/stop"]);
});

test("a start over a connection that the instance was just closing is sent again over a new one", async () => {
  await using instance = await listenAsInstance();
  const network = await listenToReady(instance);
  using _ = network;
  instance.breakNext();
  await network.start(instance.target, START, 20_000);
  assert.deepEqual(instance.asked.slice(-2), ["POST /instance/start", "POST /instance/start"]);
  assert.equal(instance.connections(), 3);
});

test("a start to an instance that dies of it may have arrived, whatever its address says afterwards", async () => {
  await using instance = await listenAsInstance();
  const network = await listenToReady(instance);
  using _ = network;
  instance.dieOfNext();
  await assert.rejects(
    network.start(instance.target, START, 20_000),
    (error) => error instanceof InstanceCallError && error.delivered === "maybe",
  );
  assert.deepEqual(commandsOf(instance), ["POST /instance/start"]);
});

test("a start that breaks off on a connection of its own may have arrived, and is not sent again", async () => {
  await using instance = await listenAsInstance();
  const { network } = listenTo(instance, { heartbeatMs: 60_000 });
  using _ = network;
  instance.breakNext();
  await assert.rejects(
    network.start(instance.target, START, 20_000),
    (error) => error instanceof InstanceCallError && error.delivered === "maybe",
  );
  assert.deepEqual(commandsOf(instance), ["POST /instance/start"]);
});

test("a start that is under way when the controller ends is not sent again", async () => {
  await using instance = await listenAsInstance();
  const network = await listenToReady(instance);
  instance.keepNext();
  const refused = assert.rejects(network.start(instance.target, START, 20_000), /did not answer/);
  await until(() => instance.asked.includes("POST /instance/start"), 20_000, "start");
  network[Symbol.dispose]();
  await refused;
  assert.deepEqual(commandsOf(instance), ["POST /instance/start"]);
});

test("an instance that hangs up and goes on talking is not connected to again and again", async () => {
  await using instance = await listenAsInstance();
  const { network } = listenTo(instance, { heartbeatMs: 60_000 });
  using _ = network;
  const stream = await instance.nextStream();
  instance.hangUp();
  for (let count = 0; count < 20; count++) {
    stream.write(lineOf({ ready: true, memoryBytes: count }));
    await until(() => network.report("i1")?.status.memoryBytes === count, 20_000, "report");
  }
  assert.equal(instance.asked.filter((each) => each === "GET /instance").length, 1);
});

/** Connected ahead of a start. */
async function listenToReady(instance: FakeInstance) {
  const { network } = listenTo(instance, { heartbeatMs: 60_000 });
  const stream = await instance.nextStream();
  stream.write(lineOf({ ready: true }));
  await connectedAhead(instance);
  return network;
}

function commandsOf({ asked }: FakeInstance): string[] {
  return asked.filter((each) => each.startsWith("POST"));
}

async function connectedAhead({ asked }: FakeInstance): Promise<void> {
  await until(() => asked.includes("GET /instance"), 20_000, "connection ahead of the start");
  // The answer is on its way within this process, and is read in the loop's next turns.
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

interface FakeInstance extends AsyncDisposable {
  target: InstanceTarget;
  /** Every request, the newest last. */
  asked: string[];
  /** There have been so many. */
  connections(): number;
  nextStream(): Promise<ServerResponse>;
  /** The next command is not answered, and its connection closed. */
  breakNext(): void;
  /** The next command is the last thing it hears. */
  dieOfNext(): void;
  /** The next command is not answered. */
  keepNext(): void;
  /** From now on it closes every connection but the one over which it speaks. */
  hangUp(): void;
}

async function listenAsInstance(): Promise<FakeInstance> {
  const asked: string[] = [];
  let connections = 0;
  let isBreaking = false;
  let isDying = false;
  let isKeeping = false;
  let hangsUp = false;
  const streams: ServerResponse[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.url === "/instance/events") {
      response.writeHead(200).flushHeaders();
      return void streams.push(response);
    }
    if (hangsUp) return void request.socket.destroy();
    if (request.method === "POST" && isKeeping) return undefined;
    if (request.method === "POST" && isDying) {
      server.close();
      return server.closeAllConnections();
    }
    if (request.method === "POST" && isBreaking) {
      isBreaking = false;
      return void request.socket.destroy();
    }
    return void response.writeHead(200).end("{}");
  }).on("connection", () => (connections += 1));
  const listening = await listenOnLoopback(server);
  return {
    target: { id: "i1", address: listening.host },
    asked,
    connections: () => connections,
    nextStream: () => until(() => streams.shift(), 20_000, "somebody who listens"),
    breakNext: () => void (isBreaking = true),
    dieOfNext: () => void (isDying = true),
    keepNext: () => void (isKeeping = true),
    hangUp: () => void (hangsUp = true),
    async [Symbol.asyncDispose]() {
      if (!isDying) await listening[Symbol.asyncDispose]();
    },
  };
}

function listenTo(
  { target }: Pick<FakeInstance, "target">,
  { heartbeatMs, log = silentLog }: { heartbeatMs: number; log?: Log },
) {
  const heard: string[] = [];
  const network = openHttpInstanceNetwork({
    tokenOf: () => "token",
    clock: systemClock,
    heartbeatMs,
    log,
    heard: (id) => void heard.push(id),
  });
  network.watch([target]);
  return { network, heard };
}

function sessionThat(state: "waiting" | "running" | "ended"): InstanceStatus["session"] & object {
  return { sessionId: SESSION_ID, state, elapsedMs: 0, marks: {}, exit: null };
}

function lineOf(status: Partial<InstanceStatus>): string {
  const whole = {
    instanceId: "i1",
    epoch: 1,
    ready: true,
    session: null,
    cpuMs: 0,
    memoryBytes: 0,
    ...status,
  };
  return `${JSON.stringify({ type: "status", status: whole } satisfies InstanceEvent)}\n`;
}
