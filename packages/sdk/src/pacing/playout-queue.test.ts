import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createPlayoutQueue } from "./playout-queue.ts";

const create = (maxQueuedMs = 1000) => createPlayoutQueue({ sampleRateHz: 1000, maxQueuedMs });

test("what is put back comes first", () => {
  const queue = createPlayoutQueue({ sampleRateHz: 1000, maxQueuedMs: 10 });
  queue.write(Int16Array.of(1, 2, 3, 4, 5, 6));
  assert.deepEqual(queue.take(4), Int16Array.of(1, 2, 3, 4));
  queue.putBack(Int16Array.of(3, 4));
  queue.putBack(Int16Array.of(2));
  assert.equal(queue.queuedSamples, 5);
  assert.equal(queue.write(new Int16Array(9).fill(7)), 5, "the cap counts it");
  assert.deepEqual(queue.take(8), Int16Array.of(2, 3, 4, 5, 6, 7, 7, 7));
  assert.deepEqual([queue.takenSamples, queue.queuedSamples], [9, 2]);
  queue.putBack(Int16Array.of(7));
  assert.equal(queue.clear(), 3);
  assert.equal(queue.take(1), undefined);
});

test("takes exactly what is wanted, silence after the last sample", () => {
  const queue = create();
  assert.equal(queue.take(4), undefined);
  queue.write(Int16Array.of(1, 2, 3));
  queue.write(Int16Array.of(4, 5));
  assert.deepEqual(queue.take(4), Int16Array.of(1, 2, 3, 4));
  assert.deepEqual(queue.take(4), Int16Array.of(5, 0, 0, 0));
  assert.equal(queue.take(4), undefined);
  assert.equal(queue.takenSamples, 5);
});

test("beyond the cap the newest audio is dropped", () => {
  const queue = create(5);
  assert.equal(queue.write(Int16Array.of(1, 2, 3)), 3);
  assert.equal(queue.write(Int16Array.of(4, 5, 6)), 2);
  assert.equal(queue.write(Int16Array.of(7)), 0);
  assert.equal(queue.writtenSamples, 5);
  assert.deepEqual(queue.take(5), Int16Array.of(1, 2, 3, 4, 5));
  assert.equal(queue.write(Int16Array.of(8)), 1);
});

test("clear forgets and counts", () => {
  const queue = create();
  queue.write(new Int16Array(10));
  queue.take(4);
  assert.equal(queue.clear(), 6);
  assert.equal(queue.clear(), 0);
  assert.equal(queue.take(4), undefined);
  const { writtenSamples, takenSamples, clearedSamples, queuedSamples } = queue;
  assert.deepEqual(
    { writtenSamples, takenSamples, clearedSamples, queuedSamples },
    {
      writtenSamples: 10,
      takenSamples: 4,
      clearedSamples: 6,
      queuedSamples: 0,
    },
  );
});

test("what was written may be reused by the writer", () => {
  const queue = create();
  const samples = Int16Array.of(1, 2);
  queue.write(samples);
  samples.fill(9);
  assert.deepEqual(queue.take(2), Int16Array.of(1, 2));
});

test("behaves like a plain list of samples", () => {
  const write = fc.record({ write: fc.integer({ min: 0, max: 9000 }) });
  const take = fc.record({ take: fc.integer({ min: 1, max: 9000 }) });
  const clear = fc.constant({ clear: true });
  const steps = fc.array(fc.oneof({ weight: 5, arbitrary: write }, { weight: 5, arbitrary: take }, clear));
  fc.assert(
    fc.property(steps, (list) => {
      const queue = create(20_000);
      let model: number[] = [];
      let next = 0;
      for (const step of list) {
        if ("write" in step) {
          const samples = Int16Array.from({ length: step.write }, () => next++);
          const room = 20_000 - model.length;
          model.push(...samples.subarray(0, room));
          assert.equal(queue.write(samples), Math.min(room, samples.length));
        } else if ("take" in step) {
          const part = model.splice(0, step.take);
          const padding = Array.from({ length: step.take - part.length }, () => 0);
          assert.deepEqual(
            queue.take(step.take),
            part.length > 0 ? Int16Array.from([...part, ...padding]) : undefined,
          );
        } else {
          assert.equal(queue.clear(), model.length);
          model = [];
        }
        assert.equal(queue.queuedSamples, model.length);
        assert.equal(queue.writtenSamples, queue.takenSamples + queue.clearedSamples + queue.queuedSamples);
      }
    }),
  );
});
