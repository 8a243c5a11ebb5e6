import assert from "node:assert/strict";
import { test } from "node:test";
import { createBoundedStream, type BoundedStream } from "./bounded-stream.ts";

test("gives what is queued in order, then waits, then ends", async () => {
  const stream = create<number>(10);
  stream.push(1);
  stream.push(2);
  assert.equal(stream.length, 2);
  const items = stream[Symbol.asyncIterator]();
  assert.deepEqual(await items.next(), { value: 1, done: false });
  assert.deepEqual(await items.next(), { value: 2, done: false });
  const third = items.next();
  stream.push(3);
  assert.deepEqual(await third, { value: 3, done: false });
  assert.equal(stream.length, 0);
  const none = items.next();
  stream.end();
  assert.deepEqual(await none, { value: undefined, done: true });
  assert.deepEqual(await items.next(), { value: undefined, done: true });
});

test("beyond the cap the oldest give way", async () => {
  const stream = create<number>(3);
  for (let item = 1; item <= 5; item += 1) stream.push(item);
  assert.equal(stream.dropped, 2);
  assert.equal(stream.length, 3);
  stream.end();
  assert.deepEqual(await rest(stream), [3, 4, 5]);
});

test("an item that a reader waits for is never dropped", async () => {
  const stream = create<number>(0);
  const items = stream[Symbol.asyncIterator]();
  const first = items.next();
  stream.push(1);
  assert.deepEqual(await first, { value: 1, done: false });
  assert.equal(stream.dropped, 0);
  stream.push(2);
  assert.equal(stream.dropped, 1);
});

test("after the end nothing comes in", async () => {
  const stream = create<number>(3);
  stream.push(1);
  stream.end();
  stream.end();
  stream.push(2);
  assert.deepEqual(await rest(stream), [1]);
});

test("leaving a loop leaves the stream whole", async () => {
  const stream = create<number>(10);
  for (let item = 1; item <= 4; item += 1) stream.push(item);
  for await (const item of stream) if (item === 2) break;
  stream.push(5);
  stream.end();
  assert.deepEqual(await rest(stream), [3, 4, 5]);
});

test("leaving while waiting ends every wait and swallows nothing", async () => {
  const stream = create<number>(10);
  const leaving = stream[Symbol.asyncIterator]();
  const waits = [leaving.next(), leaving.next()];
  await leaving.return?.();
  assert.deepEqual(await Promise.all(waits), [
    { value: undefined, done: true },
    { value: undefined, done: true },
  ]);
  stream.push(1);
  stream.end();
  assert.deepEqual(await leaving.next(), { value: undefined, done: true });
  assert.deepEqual(await rest(stream), [1]);
});

test("a second reader is told so, instead of getting half of it", async () => {
  const stream = create<number>(10);
  const [first, second] = [stream[Symbol.asyncIterator](), stream[Symbol.asyncIterator]()];
  stream.push(1);
  assert.equal((await first.next()).value, 1);
  const wait = first.next();
  await assert.rejects(second.next(), {
    name: "TypeError",
    message: "This is being read by another loop, and two would get half of it each. Leave that loop first.",
  });
  await second.return?.();
  stream.push(2);
  assert.equal((await wait).value, 2, "the first reads on");
});

test("one reader after the other is fine, and so are several at the end", async () => {
  const stream = create<number>(10);
  for (let item = 1; item <= 4; item += 1) stream.push(item);
  const [first, second, third] = [1, 2, 3].map(() => stream[Symbol.asyncIterator]());
  assert.equal((await first?.next())?.value, 1);
  await first?.return?.();
  assert.equal((await second?.next())?.value, 2);
  stream.end();
  assert.equal((await third?.next())?.value, 3);
  assert.equal((await second?.next())?.value, 4);
});

function create<T>(maxItems: number): BoundedStream<T> {
  return createBoundedStream<T>({ maxItems, name: "This" });
}

async function rest<T>(stream: BoundedStream<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
