import fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFramer } from "./frame.ts";

test("frames and the padded rest are the stream, however it is cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.int16Array({ maxLength: 50 })),
      fc.integer({ min: 1, max: 40 }),
      (pieces, length) => {
        const framer = createFramer({ samplesPerFrame: length });
        const frames = pieces.flatMap((piece) => framer.push(piece));
        const rest = framer.flush();
        if (rest) frames.push(rest);
        assert.ok(frames.every((frame) => frame.length === length));
        const stream = pieces.flatMap((piece) => [...piece]);
        const padding = Array.from({ length: frames.length * length - stream.length }, () => 0);
        assert.deepEqual(
          frames.flatMap((frame) => [...frame]),
          [...stream, ...padding],
        );
        assert.ok(padding.length < length);
      },
    ),
  );
});

test("a frame has memory of its own", () => {
  const framer = createFramer({ samplesPerFrame: 2 });
  const samples = Int16Array.of(1, 2, 3);
  const [frame] = framer.push(samples);
  samples.fill(9);
  framer.push(Int16Array.of(7, 7));
  assert.deepEqual(frame, Int16Array.of(1, 2));
  assert.equal(frame?.buffer.byteLength, 4);
});

test("flush leaves nothing behind", () => {
  const framer = createFramer({ samplesPerFrame: 3 });
  assert.equal(framer.flush(), undefined);
  framer.push(Int16Array.of(5));
  assert.deepEqual(framer.flush(), Int16Array.of(5, 0, 0));
  assert.equal(framer.flush(), undefined);
  assert.deepEqual(framer.push(Int16Array.of(1, 2, 3)), [Int16Array.of(1, 2, 3)]);
});

test("a frame needs a length", () => {
  for (const samplesPerFrame of [0, -1, 1.5, Number.NaN]) {
    assert.throws(() => createFramer({ samplesPerFrame }), RangeError);
  }
});
