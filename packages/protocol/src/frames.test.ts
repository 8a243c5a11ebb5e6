import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { size } from "../../../testing/sizes.ts";
import { encodeFrame, FrameError, parseFrame, type Frame } from "./frames.ts";

/** Each frame and its bytes, worked out by hand from the schema. */
const GOLDEN: [Frame, string][] = [
  [{ kind: "message", data: "{}" }, "22 04 0a 02 7b 7d"],
  [
    { kind: "text", id: 1, name: "t", text: "hé" },
    "0a 0a  08 01  12 01 74  1a 03 68 c3 a9", // the length counts bytes, not characters
  ],
  [
    {
      kind: "audio",
      id: 0,
      name: "audio",
      audio: Uint8Array.of(1, 0, 2, 0),
      sampleRateHz: 16_000,
      channels: 1,
    },
    "12 12  12 05 61 75 64 69 6f  1a 04 01 00 02 00  20 80 7d  28 01",
  ],
  [
    {
      kind: "audio",
      id: 7,
      name: "",
      audio: Uint8Array.of(9, 9),
      sampleRateHz: 24_000,
      channels: 2,
      pts: 300,
    },
    "12 0f  08 07  1a 02 09 09  20 c0 bb 01  28 02  30 ac 02",
  ],
  [
    { kind: "transcription", id: 300, name: "", text: "hi", userId: "u", timestamp: "t" },
    "1a 0d  08 ac 02  1a 02 68 69  22 01 75  2a 01 74",
  ],
  [{ kind: "interruption", id: 5, name: "stop" }, "2a 08  08 05  12 04 73 74 6f 70"],
];

/** Fields equal to their default are not on the wire, except a presentation time that was set. */
const DEFAULTS: [Frame, string][] = [
  [{ kind: "text", id: 0, name: "", text: "" }, "0a 00"],
  [{ kind: "audio", id: 0, name: "", audio: new Uint8Array(0), sampleRateHz: 0, channels: 0 }, "12 00"],
  [
    { kind: "audio", id: 0, name: "", audio: new Uint8Array(0), sampleRateHz: 0, channels: 0, pts: 0 },
    "12 02 30 00",
  ],
  [{ kind: "transcription", id: 0, name: "", text: "", userId: "", timestamp: "" }, "1a 00"],
  [{ kind: "message", data: "" }, "22 00"],
  [{ kind: "interruption", id: 0, name: "" }, "2a 00"],
];

test("frames have exactly the bytes of the schema", () => {
  for (const [frame, hex] of [...GOLDEN, ...DEFAULTS]) {
    assert.deepEqual(encodeFrame(frame), bytes(hex), frame.kind);
    assert.deepEqual(plain(parseFrame(bytes(hex))), plain(frame), frame.kind);
  }
});

test("whatever is encoded is read back", () => {
  const id = fc.maxSafeNat();
  const name = fc.string({ unit: "binary" });
  const frame: fc.Arbitrary<Frame> = fc.oneof(
    fc.record({ kind: fc.constant("text" as const), id, name, text: name }),
    fc.record(
      {
        kind: fc.constant("audio" as const),
        id,
        name,
        audio: fc.uint8Array({ maxLength: 400 }),
        sampleRateHz: fc.nat(2 ** 32 - 1),
        channels: fc.nat(2 ** 32 - 1),
        pts: id,
      },
      { requiredKeys: ["kind", "id", "name", "audio", "sampleRateHz", "channels"] },
    ),
    fc.record({
      kind: fc.constant("transcription" as const),
      id,
      name,
      text: name,
      userId: name,
      timestamp: name,
    }),
    fc.record({ kind: fc.constant("message" as const), data: name }),
    fc.record({ kind: fc.constant("interruption" as const), id, name }),
  );
  fc.assert(
    fc.property(frame, (value) => assert.deepEqual(plain(parseFrame(encodeFrame(value))), plain(value))),
  );
});

test("a byte order mark is text like any other", () => {
  const frame: Frame = { kind: "message", data: "\uFEFF{}" };
  assert.deepEqual(parseFrame(encodeFrame(frame)), frame);
});

test("unknown fields are skipped, outside and inside", () => {
  const strangers = [
    "78 96 01", // field 15, a number
    "79 01 02 03 04 05 06 07 08", // field 15, eight bytes
    "7a 03 61 62 63", // field 15, a string
    "7d 01 02 03 04", // field 15, four bytes
    "82 80 80 80 10 01 00", // a field number of five bytes
  ];
  for (const stranger of strangers) {
    check({ hex: `${stranger} 22 04 0a 02 7b 7d`, data: "{}" });
    check({ hex: `22 04 0a 02 7b 7d ${stranger}`, data: "{}" });
    const inner = bytes(`${stranger} 0a 02 7b 7d ${stranger}`);
    check({ hex: `22 ${inner.length.toString(16).padStart(2, "0")} ${hexOf(inner)}`, data: "{}" });
  }
});

test("the last of several frames, and of several equal fields, wins", () => {
  check({ hex: "0a 03 1a 01 61  22 04 0a 02 7b 7d", data: "{}" });
  check({ hex: "22 02 0a 00  22 04 0a 02 7b 7d", data: "{}" });
  check({ hex: "22 07 0a 01 61  0a 02 7b 7d", data: "{}" });
  assert.equal(parseFrame(bytes("22 04 0a 02 7b 7d  2a 00")).kind, "interruption");
});

test("a known field in another form counts as absent", () => {
  assert.deepEqual(parseFrame(bytes("22 02 08 07")), { kind: "message", data: "" });
  assert.deepEqual(parseFrame(bytes("0a 03 0a 01 07")), { kind: "text", id: 0, name: "", text: "" });
  assert.throws(() => parseFrame(bytes("20 05")), FrameError); // a message frame that is a number
});

test("a message cut at any byte is refused", () => {
  for (const [frame] of [...GOLDEN, ...DEFAULTS]) {
    const whole = encodeFrame(frame);
    for (let end = 0; end < whole.length; end += 1)
      assert.throws(() => parseFrame(whole.subarray(0, end)), FrameError, `${frame.kind} cut at ${end}`);
  }
});

test("malformed messages are refused", () => {
  const refused: [string, string][] = [
    ["nothing", ""],
    ["no known kind", "32 00"],
    ["field number 0", "02 00"],
    ["a group", "0b 0c"],
    ["wire type 6", "0e 00"],
    ["wire type 7", "0f 00"],
    ["a number without end", "08 ff ff ff ff ff ff ff ff ff ff ff"],
    ["a length beyond the message", "22 05 0a 02 7b 7d"],
    ["a length beyond any memory", "22 ff ff ff ff ff ff ff ff 7f 00"],
    ["text that is not UTF-8", "22 03 0a 01 ff"],
    ["an encoded surrogate", "22 05 0a 03 ed a0 80"],
  ];
  for (const [what, hex] of refused) assert.throws(() => parseFrame(bytes(hex)), FrameError, what);
});

test("no bytes make it fail in another way", () => {
  const almostFrames = fc
    .uint8Array({ maxLength: 40 })
    .map((tail) => Uint8Array.of(0x12, tail.length, ...tail));
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), almostFrames), (message) => {
      try {
        parseFrame(message);
      } catch (error) {
        assert.ok(error instanceof FrameError, String(error));
      }
    }),
    { numRuns: size(400, 2_000) },
  );
});

test("an id may take all ten bytes of a number", () => {
  const frame = parseFrame(bytes("0a 0b 08 ff ff ff ff ff ff ff ff ff 01"));
  assert.ok(frame.kind === "text" && frame.id === 2 ** 64);
});

test("audio is a view into the message, not a copy", () => {
  const message = bytes("12 06 1a 04 01 00 02 00");
  const frame = parseFrame(message);
  assert.ok(frame.kind === "audio");
  assert.equal(frame.audio.buffer, message.buffer);
  assert.equal(frame.audio.byteOffset, 4);
});

function check({ hex, data }: { hex: string; data: string }): void {
  assert.deepEqual(parseFrame(bytes(hex)), { kind: "message", data }, hex);
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(hex.split(/\s+/).filter(Boolean), (pair) => Number.parseInt(pair, 16));
}

function hexOf(data: Uint8Array): string {
  return Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

/** Views of different buffers become equal when their bytes are. */
function plain(frame: Frame): object {
  return frame.kind === "audio" ? { ...frame, audio: [...frame.audio] } : { ...frame };
}
