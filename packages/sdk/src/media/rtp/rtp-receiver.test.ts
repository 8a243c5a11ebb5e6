import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createOpusDecoder, createOpusEncoder } from "../opus.ts";
import type { OpusDecoder } from "../opus.ts";
import { createRtpReceiver } from "./rtp-receiver.ts";
import type { RtpPacket } from "./rtp.ts";

// Steps: "3" is packet 3 arriving, "+60" advances time and polls, "~60" advances time only. A packet can be 3x
// corrupt, 3- without a copy of the one before, 3e empty, 3s of another source, 3@800 stamped 800 ms, 3/40 40 ms
// long. Heard: "5" packet 5, "f5" the one before it recovered from it, "c20" 20 ms of concealment.
const table: [name: string, steps: string, heard: string, stats?: string][] = [
  ["in order", "1 2 3", "1 2 3", "received 3, lost 0"],
  ["swapped", "1 3 2 4", "1 2 3 4", "lost 0, late 0"],
  ["waits while one is missing", "1 3 +59", "1", "deadline 60"],
  ["recovers one after the wait", "1 3 +60", "1 f3 3", "lost 1, recovered 1, deadline none"],
  ["counts from the first packet after the hole", "1 +40 3 +40 4", "1", "deadline 100"],
  ["a packet ends an overdue wait", "1 3 ~70 4", "1 f3 3 4"],
  ["five held end the wait", "1 3 4 5 6 7", "1 f3 3 4 5 6 7"],
  ["four held do not", "1 3 4 5 6", "1"],
  ["two holes, one after the other", "1 3 +30 5 +30", "1 f3 3", "deadline 90"],
  ["two holes, both overdue", "1 3 5 +60", "1 f3 3 f5 5", "lost 2, recovered 2"],
  ["three lost", "1 5 +60", "1 c20 c20 f5 5", "lost 3, recovered 1, concealed 2"],
  ["ten lost", "1 12 +60", "1 c20 c20 c20 f12 12", "lost 10, concealed 3"],
  ["no copy to recover from", "1 3- +60", "1 c20 3", "concealed 1, recovered 0"],
  ["ten lost, no copy", "1 12- +60", "1 c20 c20 c20 12"],
  ["late", "1 3 +60 2 4", "1 f3 3 4", "late 1, duplicate 0"],
  ["late twice", "1 3 +60 2 2", "1 f3 3", "late 1, duplicate 1"],
  ["before the first", "5 4 6", "5 6", "late 1, duplicate 0"],
  ["duplicate of one played", "1 1 2 1", "1 2", "received 4, duplicate 2"],
  ["duplicate of one held", "1 3 3 2", "1 2 3", "duplicate 1, lost 0"],
  ["numbers wrap", "65534 65535 0 2 1", "65534 65535 0 1 2", "lost 0"],
  ["lost at the wrap", "65535@100 1@140 +60", "65535 f1 1", "lost 1"],
  ["timestamps wrap", "1@89478480 3@89478520 +60", "1 f3 3", "lost 1"],
  ["jump of 500", "1 502 +60", "1 c20 c20 c20 f502 502", "lost 500"],
  ["jump of 501", "1 503 504", "1 503 504", "lost 0"],
  ["jump back", "5000 10 11", "5000 10 11", "late 0, lost 0"],
  ["a jump plays what was held", "1 3 5000", "1 f3 3 5000"],
  ["new source", "5 2s 3s", "5 2 3", "late 0"],
  ["new source with equal numbers", "5 5s", "5 5", "duplicate 0"],
  ["silence suppression", "1 2@800 3@820", "1 2 3", "lost 0"],
  ["lost in silence suppression", "1 3@800 +60", "1 f3 3", "lost 1"],
  ["timestamps that stand still", "1@0 3@0 +60", "1 3", "lost 1"],
  ["corrupt", "1 2x 3", "1 c20 3", "corrupt 1, concealed 1, lost 0"],
  ["corrupt first", "1x 2", "c20 2", "corrupt 1"],
  ["many corrupt", "1 2x 3x 4x 5x 6x 7 8x", "1 c20 c20 c20 7 c20", "corrupt 6, concealed 4"],
  ["corrupt after a hole", "1 3x +60 4", "1 c20 c20 4", "corrupt 1, lost 1"],
  ["only padding", "1 2e 3", "1 3", "corrupt 0, lost 0"],
  ["packets of 10 ms", "1/10 2/10 5/10 +60", "1 2 c10 f5 5", "recovered 1"],
  ["packets of 60 ms", "1/60 4/60 +60", "1 c60 f4 4", "recovered 1"],
  ["packets of 40 ms, no copy", "1/40 3-/40 +60", "1 c40 3"],
];

for (const [name, steps, heard, stats] of table) {
  test(name, () => {
    const run = createRun();
    for (const step of steps.split(" ")) run.step(step);
    assert.equal(run.heard.join(" "), heard);
    const counted = { ...run.receiver.stats, deadline: run.receiver.nextDeadlineMs() ?? "none" };
    for (const expected of stats?.split(", ") ?? []) {
      const key = expected.split(" ")[0] as keyof typeof counted;
      assert.equal(`${key} ${counted[key]}`, expected);
    }
  });
}

test("a held packet survives the reuse of its memory", () => {
  const run = createRun();
  run.step("1");
  const packet = fakePacket({ n: 3 });
  run.receiver.receive(packet);
  packet.payload.fill(0);
  run.step("2");
  assert.deepEqual(run.heard, ["1", "2", "3"]);
});

test("with loss, reordering and duplicates: in order, nothing twice, little held", () => {
  const network = fc.record({
    start: fc.nat(65_535),
    fates: fc.array(
      fc.record({
        lost: fc.nat(9),
        delayMs: fc.oneof(fc.constant(0), fc.nat(150)),
        copies: fc.constantFrom(1, 1, 1, 2),
      }),
      { minLength: 1, maxLength: 200 },
    ),
  });
  fc.assert(
    fc.property(network, ({ start, fates }) => {
      const arrivals = fates
        .flatMap(({ lost, delayMs, copies }, i) =>
          lost === 0
            ? []
            : Array.from({ length: copies }, (_, copy) => ({
                i,
                atMs: i * 20 + delayMs + copy * 7,
              })),
        )
        .sort((a, b) => a.atMs - b.atMs);
      const run = createRun();
      for (const { i, atMs } of arrivals) {
        while ((run.receiver.nextDeadlineMs() ?? Infinity) <= atMs) {
          run.nowMs = run.receiver.nextDeadlineMs()!;
          run.receiver.poll();
        }
        run.nowMs = atMs;
        run.receiver.receive(fakePacket({ n: (start + i) & 0xffff, atMs: i * 20 }));
        assert.ok((run.receiver.nextDeadlineMs() ?? Infinity) > atMs);
        const accounted = run.decoded.length + run.receiver.stats.late + run.receiver.stats.duplicate;
        assert.ok(run.receiver.stats.received - accounted < 5, "held");
      }
      run.step("+60");
      const order = run.decoded.map((n) => (n - start) & 0xffff);
      assert.deepEqual(
        order,
        [...new Set(order)].sort((a, b) => a - b),
      );
      const { received, late, duplicate } = run.receiver.stats;
      assert.equal(received, arrivals.length);
      assert.equal(run.decoded.length + late + duplicate, received);
      assert.equal(late + run.decoded.length, new Set(arrivals.map(({ i }) => i)).size);
    }),
    { numRuns: 500 },
  );
});

test("with real Opus, lost packets leave no hole in time", async () => {
  const encoder = await createOpusEncoder({ sampleRateHz: 24_000 });
  const decoder = await createOpusDecoder({ sampleRateHz: 16_000 });
  let samples = 0;
  let nowMs = 0;
  const receiver = createRtpReceiver({
    decoder,
    deliver: (frame) => void (samples += frame.length),
    nowMs: () => nowMs,
  });
  for (let i = 0; i < 500; i++) {
    const frame = Int16Array.from({ length: 480 }, (_, j) => 9000 * Math.sin((i * 480 + j) / (30 + (i % 7))));
    const payload = encoder.encode(frame);
    nowMs = i * 20;
    receiver.poll();
    const isLost = i % 20 === 10 || i % 50 === 31 || i % 50 === 32;
    if (!isLost) {
      receiver.receive({
        payloadType: 111,
        marker: false,
        sequenceNumber: i,
        timestamp: i * 960,
        ssrc: 1,
        payload,
      });
    }
  }
  const { lost, recovered, concealed } = receiver.stats;
  assert.equal(samples, 500 * 320);
  assert.equal(recovered + concealed, lost);
  assert.ok(recovered >= lost / 4, `${recovered} of ${lost} recovered`);
  encoder.free();
  decoder.free();
});

interface FakePacket {
  n: number;
  ms?: number;
  atMs?: number;
  ssrc?: number;
  copy?: boolean;
  corrupt?: boolean;
  empty?: boolean;
}

function createRun() {
  const heard: string[] = [];
  const decoded: number[] = [];
  const run = {
    heard,
    decoded,
    nowMs: 0,
    receiver: createRtpReceiver({
      decoder: createFakeDecoder(heard, decoded),
      deliver: () => {},
      nowMs: (): number => run.nowMs,
    }),
    step(step: string): void {
      if (/^[+~]/.test(step)) run.nowMs += Number(step.slice(1));
      if (step.startsWith("+")) run.receiver.poll();
      if (/^\d/.test(step)) run.receiver.receive(fakePacket(parseStep(step)));
    },
  };
  return run;
}

function parseStep(step: string): FakePacket {
  const [, n, marks = "", atMs, ms] = /^(\d+)([a-z-]*)(?:@(\d+))?(?:\/(\d+))?$/.exec(step)!;
  return {
    n: Number(n),
    atMs: atMs === undefined ? undefined : Number(atMs),
    ms: ms === undefined ? undefined : Number(ms),
    ssrc: marks.includes("s") ? 9 : 1,
    copy: !marks.includes("-"),
    corrupt: marks.includes("x"),
    empty: marks.includes("e"),
  };
}

function fakePacket({
  n,
  ms = 20,
  atMs = n * ms,
  ssrc = 1,
  copy = true,
  corrupt,
  empty,
}: FakePacket): RtpPacket {
  const payload = Uint8Array.of(n >> 8, n & 0xff, ms, copy ? 1 : 0, corrupt ? 1 : 0);
  return {
    payloadType: 111,
    marker: false,
    sequenceNumber: n,
    timestamp: (atMs * 48) >>> 0,
    ssrc,
    payload: empty ? new Uint8Array(0) : payload,
  };
}

function createFakeDecoder(heard: string[], decoded: number[]): OpusDecoder {
  const numberOf = (packet: Uint8Array) => packet[0]! * 256 + packet[1]!;
  const refuseCorrupt = (packet: Uint8Array) => {
    if (packet[4] === 1) throw new Error("corrupt");
  };
  return {
    sampleRateHz: 1000,
    decode(packet) {
      refuseCorrupt(packet);
      heard.push(String(numberOf(packet)));
      decoded.push(numberOf(packet));
      return new Int16Array(packet[2]!);
    },
    canRecover: (packet) => packet[3] === 1,
    recover(packet, durationMs = 20) {
      refuseCorrupt(packet);
      heard.push(`f${numberOf(packet)}`);
      return new Int16Array(durationMs);
    },
    conceal(durationMs = 20) {
      heard.push(`c${durationMs}`);
      return new Int16Array(durationMs);
    },
    free() {},
  };
}
