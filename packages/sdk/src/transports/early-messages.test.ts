import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { WebSocket } from "ws";
import { openSocketPair } from "../testing/socket-pair.ts";
import { keepEarlyMessages } from "./early-messages.ts";
import { textOf } from "./socket-data.ts";

test("what came before anybody listened comes first, as it was", async () => {
  await using pair = await openSocketPair();
  const early = keepEarlyMessages(pair.server);
  pair.client.send("one");
  pair.client.send(Buffer.from("two"));
  await early.peek(1);
  const messages = listen(pair.server);
  pair.client.send("three");
  assert.deepEqual(await messages(3), [
    ["one", false],
    ["two", true],
    ["three", false],
  ]);
});

test("only the first listener gets what was kept, and gets it once", async () => {
  await using pair = await openSocketPair();
  const early = keepEarlyMessages(pair.server);
  pair.client.send("early");
  await early.peek(0);
  const first = listen(pair.server);
  await first(1);
  const second = listen(pair.server);
  pair.client.send("late");
  assert.deepEqual(await second(1), [["late", false]]);
  assert.equal((await first(2)).length, 2);
});

test("listening to other events does not count", async () => {
  await using pair = await openSocketPair();
  const early = keepEarlyMessages(pair.server);
  pair.client.send("one");
  await early.peek(0);
  pair.server.on("pong", () => undefined);
  assert.deepEqual(await listen(pair.server)(1), [["one", false]]);
});

test("a client that says too much early loses the rest of it", async () => {
  await using pair = await openSocketPair();
  const early = keepEarlyMessages(pair.server);
  const half = Buffer.alloc(500 * 1024, 1);
  for (const message of [half, half, half, Buffer.from("lost, too")]) pair.client.send(message);
  pair.client.ping();
  await once(pair.server, "ping"); // arrives after the messages
  await early.peek(1);
  const messages = listen(pair.server);
  pair.client.send("heard");
  assert.deepEqual(
    (await messages(3)).map(([text]) => text.length),
    [half.length, half.length, "heard".length],
  );
});

test("messages without content are not kept without end either", async () => {
  await using pair = await openSocketPair();
  keepEarlyMessages(pair.server);
  const pinged = once(pair.server, "ping"); // arrives after the messages
  for (let sent = 0; sent < 10_000; sent += 1) pair.client.send("");
  pair.client.ping();
  await pinged;
  const messages = listen(pair.server);
  pair.client.send("heard");
  await messages(1);
  pair.client.ping();
  await once(pair.server, "ping");
  const kept = (await messages(1)).length;
  assert.ok(kept > 1_000 && kept < 5_000, `${kept} were kept`);
});

test("a look ahead waits for its message, or for the end", async () => {
  await using pair = await openSocketPair();
  const early = keepEarlyMessages(pair.server);
  const [first, second, third] = [early.peek(0), early.peek(1), early.peek(2)];
  pair.client.send("one");
  assert.equal(await first, "one");
  pair.client.send("two");
  assert.equal(await second, "two");
  pair.client.close();
  assert.equal(await third, undefined);
  assert.equal(await early.peek(0), "one");
});

/** Collects messages; the returned function resolves once there are this many. */
function listen(socket: WebSocket): (count: number) => Promise<[string, boolean][]> {
  const messages: [string, boolean][] = [];
  let arrived = Promise.withResolvers<void>();
  socket.on("message", (data, isBinary) => {
    messages.push([textOf(data), isBinary]);
    arrived.resolve();
    arrived = Promise.withResolvers();
  });
  return async (count) => {
    while (messages.length < count) await arrived.promise;
    return messages;
  };
}
