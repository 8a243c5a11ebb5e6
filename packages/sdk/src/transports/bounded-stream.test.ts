import assert from "node:assert/strict";
import { test } from "node:test";
import { createBoundedStream, type BoundedStream } from "./bounded-stream.ts";

test("gives what is queued in order, then waits, then ends", async () => {
  const stream = createBoundedStream<number>(10);
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
  const stream = createBoundedStream<number>(3);
  for (let item = 1; item <= 5; item += 1) stream.push(item);
  assert.equal(stream.dropped, 2);
  assert.equal(stream.length, 3);
  stream.end();
  assert.deepEqual(await rest(stream), [3, 4, 5]);
});

test("an item somebody waits for is never dropped", async () => {
  const stream = createBoundedStream<number>(0);
  const items = stream[Symbol.asyncIterator]();
  const first = items.next();
  stream.push(1);
  assert.deepEqual(await first, { value: 1, done: false });
  assert.equal(stream.dropped, 0);
  stream.push(2);
  assert.equal(stream.dropped, 1);
});

test("after the end nothing comes in", async () => {
  const stream = createBoundedStream<number>(3);
  stream.push(1);
  stream.end();
  stream.end();
  stream.push(2);
  assert.deepEqual(await rest(stream), [1]);
});

test("leaving a loop leaves the stream whole", async () => {
  const stream = createBoundedStream<number>(10);
  for (let item = 1; item <= 4; item += 1) stream.push(item);
  for await (const item of stream) if (item === 2) break;
  stream.push(5);
  stream.end();
  assert.deepEqual(await rest(stream), [3, 4, 5]);
});

test("leaving while waiting ends every wait and swallows nothing", async () => {
  const stream = createBoundedStream<number>(10);
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

test("leaving does not end the waits of others", async () => {
  const stream = createBoundedStream<string>(10);
  const [leaving, staying] = [stream[Symbol.asyncIterator](), stream[Symbol.asyncIterator]()];
  void leaving.next();
  const wait = staying.next();
  await leaving.return?.();
  stream.push("for the one who stayed");
  assert.equal((await wait).value, "for the one who stayed");
});

test("readers share: each item goes to one, who waited longest first", async () => {
  const stream = createBoundedStream<number>(10);
  const [first, second] = [stream[Symbol.asyncIterator](), stream[Symbol.asyncIterator]()];
  const waits = [first.next(), second.next(), first.next()];
  for (const item of [1, 2, 3, 4]) stream.push(item);
  assert.deepEqual(
    (await Promise.all(waits)).map(({ value }) => value),
    [1, 2, 3],
  );
  assert.equal((await second.next()).value, 4);
});

async function rest<T>(stream: BoundedStream<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
