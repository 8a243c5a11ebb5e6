import type { InstanceEvent, InstanceStatus } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { test } from "node:test";
import { listenOnLoopback } from "../../../../testing/loopback-server.ts";
import { silentLog } from "../log.ts";
import { systemClock } from "../system-clock.ts";
import { until } from "../../../../testing/wait.ts";
import { openHttpInstanceNetwork } from "./http-instance-network.ts";

const SESSION_ID = "0f0f4c0e-5c3d-4f7e-9f27-0a6b8e6d1c11";

test("news wake whoever listens, heartbeats do not, and both renew the report", async () => {
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
  assert.equal(heard.length, 2, "taken: whoever began the session knows");
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
  const { network } = listenTo(instance, { heartbeatMs: 60_000 });
  using _ = network;
  const flood = await instance.nextStream();
  flood.write("x".repeat(1024 * 1024 + 1));
  await once(flood, "close");
  const stream = await instance.nextStream();
  stream.write(lineOf({ ready: true }));
  await until(() => network.report("i1"), 20_000, "report");
  assert.equal(network.report("i1")?.status.ready, true);
});

interface FakeInstance extends AsyncDisposable {
  address: string;
  nextStream(): Promise<ServerResponse>;
}

async function listenAsInstance(): Promise<FakeInstance> {
  const server = createServer((_request, response) => response.writeHead(200).flushHeaders());
  const listening = await listenOnLoopback(server);
  return {
    address: listening.host,
    nextStream: async () => ((await once(server, "request")) as [unknown, ServerResponse])[1],
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}

function listenTo({ address }: FakeInstance, { heartbeatMs }: { heartbeatMs: number }) {
  const heard: string[] = [];
  const network = openHttpInstanceNetwork({
    tokenOf: () => "token",
    clock: systemClock,
    heartbeatMs,
    log: silentLog,
    heard: (id) => void heard.push(id),
  });
  network.watch([{ id: "i1", address }]);
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
