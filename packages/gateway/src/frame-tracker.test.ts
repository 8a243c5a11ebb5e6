import fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";
import { closeFrame, createFrameTracker } from "./frame-tracker.ts";
import { clientFrame } from "./testing/client-frames.ts";

const frames = fc.array(
  fc.record({ bytes: fc.constantFrom(0, 1, 125, 126, 127, 65_535, 65_536, 70_000), isMasked: fc.boolean() }),
  { minLength: 1, maxLength: 6 },
);

test("boundaries are found however the bytes are cut", () => {
  fc.assert(
    fc.property(frames, fc.array(fc.nat(80_000), { maxLength: 10 }), (list, sizes) => {
      const built = list.map(({ bytes, isMasked }) =>
        clientFrame(Buffer.alloc(bytes, 8), { opcode: 2, isMasked }),
      );
      const all = Buffer.concat(built);
      const boundaries = new Set<number>([0]);
      let end = 0;
      for (const frame of built) boundaries.add((end += frame.length));
      const tracker = createFrameTracker();
      let at = 0;
      for (const size of [...sizes, all.length]) {
        tracker.push(all.subarray(at, at + size));
        at = Math.min(all.length, at + size);
        assert.equal(tracker.atBoundary, boundaries.has(at));
        if (tracker.missingBytes > 0) assert.ok(boundaries.has(at + tracker.missingBytes));
      }
      assert.equal(tracker.closing, false);
    }),
    { numRuns: 200 },
  );
});

test("a close frame is noticed by its header", () => {
  const tracker = createFrameTracker();
  const frame = closeFrame(1011, "gone");
  tracker.push(frame.subarray(0, 1));
  assert.equal(tracker.closing, false);
  tracker.push(frame.subarray(1, 2));
  assert.ok(tracker.closing && !tracker.atBoundary);
  tracker.push(frame.subarray(2));
  assert.ok(tracker.atBoundary);
  assert.deepEqual([...frame], [0x88, 6, 1011 >> 8, 1011 & 255, ...Buffer.from("gone")]);
});
