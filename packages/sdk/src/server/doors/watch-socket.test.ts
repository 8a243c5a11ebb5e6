import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openSocketPair } from "../../testing/socket-pair.ts";
import { watchSocket } from "./socket-client.ts";

test("a client that answers pings stays", async (context) => {
  const nextPing = intervals(context);
  await using pair = await openSocketPair();
  watchSocket(pair.server);
  for (let pings = 0; pings < 10; pings += 1) {
    const answered = once(pair.server, "pong");
    nextPing();
    await answered;
  }
  assert.equal(pair.server.readyState, pair.server.OPEN);
});

test("a client that has vanished is given up after two pings without an answer", async (context) => {
  const nextPing = intervals(context);
  await using pair = await openSocketPair({ autoPong: false });
  watchSocket(pair.server);
  for (let pings = 0; pings < 2; pings += 1) {
    const pinged = once(pair.client, "ping");
    nextPing();
    await pinged;
  }
  assert.equal(pair.server.readyState, pair.server.OPEN);
  const closed = once(pair.server, "close") as Promise<[number]>;
  nextPing();
  assert.deepEqual([(await closed)[0], await pair.clientClosed()], [1006, 1006]);
});

test("one answer makes up for a missed one", async (context) => {
  const nextPing = intervals(context);
  await using pair = await openSocketPair({ autoPong: false });
  watchSocket(pair.server);
  for (let pings = 1; pings <= 10; pings += 1) {
    const pinged = once(pair.client, "ping");
    nextPing();
    await pinged;
    if (pings % 2 === 1) continue;
    const answered = once(pair.server, "pong");
    pair.client.pong();
    await answered;
  }
  assert.equal(pair.server.readyState, pair.server.OPEN);
});

test("a client that pings and reads no answer does not fill the memory", async () => {
  await using pair = await openSocketPair();
  watchSocket(pair.server);
  pair.client.pause();
  let isOver = false;
  pair.server.once("close", () => (isOver = true));
  const words = Buffer.alloc(125);
  for (let sentBytes = 0; !isOver && sentBytes < 200_000_000; sentBytes += 1_000 * words.length) {
    for (let count = 0; count < 1_000; count += 1) pair.client.ping(words);
    await nextTurn();
    assert.ok(pair.server.bufferedAmount < 8_000_000, `${pair.server.bufferedAmount} bytes wait`);
  }
  assert.ok(isOver);
});

test("after the end it pings no more", async () => {
  await using pair = await openSocketPair();
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  const before = timers();
  watchSocket(pair.server, 60_000);
  assert.equal(timers(), before + 1);
  pair.client.terminate();
  await once(pair.server, "close");
  assert.ok(timers() <= before);
});

/** Replaces timers; the returned function lets the next ping fall due. */
function intervals(context: TestContext): () => void {
  context.mock.timers.enable({ apis: ["setInterval"] });
  return () => context.mock.timers.tick(15_000);
}
