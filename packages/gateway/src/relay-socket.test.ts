import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";
import { closeFrame } from "./frame-tracker.ts";
import { relaySocket, type RelayedSocket } from "./relay-socket.ts";
import { clientFrame } from "./testing/client-frames.ts";
import { until, within } from "../../../testing/wait.ts";

const serverFrame = (bytes: number): Buffer =>
  clientFrame(Buffer.alloc(bytes, "x"), { opcode: 2, isMasked: false });

interface Bench extends AsyncDisposable {
  /** The remote ends. */
  client: Socket;
  instance: Socket;
  relayed: RelayedSocket;
  received(): Buffer;
}

async function startBench(relayBytes = 1024 * 1024): Promise<Bench> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const pair = async (): Promise<[Socket, Socket]> => {
    const far = connect({ port, host: "127.0.0.1", noDelay: true }).on("error", () => undefined);
    const [near] = (await once(server, "connection")) as [Socket];
    return [far, near];
  };
  const [client, nearClient] = await pair();
  const [instance, nearInstance] = await pair();
  const relayed = relaySocket({
    client: nearClient,
    instance: nearInstance,
    fromClient: Buffer.alloc(0),
    fromInstance: Buffer.alloc(0),
    timing: { stalledMs: 2_000, silentMs: 60_000, goodbyeMs: 300 },
    relayBytes,
    isPinged: false,
  });
  const chunks: Buffer[] = [];
  client.on("data", (chunk: Buffer) => chunks.push(chunk));
  return {
    client,
    instance,
    relayed,
    received: () => Buffer.concat(chunks),
    async [Symbol.asyncDispose]() {
      client.destroy();
      instance.destroy();
      await within(relayed.ended, 3_000, "end");
      server.close();
    },
  };
}

test("an instance that is lost at a boundary gives 1011, one that said goodbye gives nothing more", async () => {
  for (const [bytes, expected] of [
    [serverFrame(10), Buffer.concat([serverFrame(10), closeFrame(1011)])],
    [Buffer.alloc(0), closeFrame(1011)],
    [closeFrame(1000), closeFrame(1000)],
    [serverFrame(1_000).subarray(0, 500), serverFrame(1_000).subarray(0, 500)],
    [serverFrame(1_000).subarray(0, 1), serverFrame(1_000).subarray(0, 1)],
  ] as const) {
    await using bench = await startBench();
    const ended = once(bench.client, "end");
    bench.instance.end(bytes);
    await within(ended, 1_000, "end");
    assert.deepEqual(bench.received(), expected);
    await within(bench.relayed.ended, 1_000, "end of the relay");
  }
});

test("a call that is ended within a frame ends behind it", async () => {
  await using bench = await startBench();
  const frame = serverFrame(1_000);
  bench.instance.write(frame.subarray(0, 700));
  await until(() => bench.received().length === 700, 1_000, "first part");
  bench.relayed.finish(1013);
  const ended = once(bench.client, "end");
  bench.instance.write(Buffer.concat([frame.subarray(700), serverFrame(5)]));
  await within(ended, 1_000, "end");
  assert.deepEqual(bench.received(), Buffer.concat([frame, closeFrame(1013)]));
});

test("a frame too long to wait for is cut", async () => {
  await using bench = await startBench(10_000);
  const part = serverFrame(50_000).subarray(0, 700);
  bench.instance.write(part);
  await until(() => bench.received().length === 700, 1_000, "first part");
  const ended = once(bench.client, "end");
  bench.relayed.finish(1013);
  await within(ended, 1_000, "end");
  assert.deepEqual(bench.received(), part);
});

test("an end that never comes is made", async () => {
  await using bench = await startBench();
  bench.instance.write(serverFrame(1_000).subarray(0, 700));
  await until(() => bench.received().length === 700, 1_000, "first part");
  bench.relayed.finish(1001);
  await within(bench.relayed.ended, 1_000, "end");
});

test("a client's last bytes reach an instance that reads slowly, and its end too", async () => {
  await using bench = await startBench();
  bench.instance.pause();
  const sent = Buffer.alloc(200_000, 7);
  bench.client.end(sent);
  let read = 0;
  bench.instance.on("data", (chunk: Buffer) => (read += chunk.length)).resume();
  await within(once(bench.instance, "end"), 2_000, "end");
  assert.equal(read, sent.length);
});

test("a reset of either side ends the other", async () => {
  for (const side of ["client", "instance"] as const) {
    await using bench = await startBench();
    bench[side].resetAndDestroy();
    await within(bench.relayed.ended, 2_000, "end");
  }
});

test("a peer that takes nothing is noticed by the look-round", async () => {
  await using bench = await startBench();
  bench.client.pause();
  const frame = serverFrame(60_000);
  let isHeld = false;
  for (let count = 0; count < 400 && !isHeld; count++) {
    isHeld = !bench.instance.write(frame);
    if (isHeld) isHeld = await drainedWithin(bench.instance, 100).then((drained) => !drained);
  }
  assert.ok(isHeld, "the instance is held up");
  bench.relayed.check(0);
  bench.relayed.check(2_001);
  await within(bench.relayed.ended, 2_000, "end");
});

async function drainedWithin(socket: Socket, ms: number): Promise<boolean> {
  const timeout = AbortSignal.timeout(ms);
  return once(socket, "drain", { signal: timeout }).then(
    () => true,
    () => false,
  );
}
