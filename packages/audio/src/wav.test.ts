import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseWav, writeWav } from "./wav.ts";

test("what is written is read back", () => {
  fc.assert(
    fc.property(
      fc.int16Array({ maxLength: 100 }),
      fc.constantFrom(8000, 16_000, 44_100),
      (samples, sampleRateHz) => {
        assert.deepEqual(parseWav(writeWav({ samples, sampleRateHz })), { samples, sampleRateHz });
      },
    ),
  );
});

test("two channels are mixed", () => {
  const bytes = wav([
    chunk("fmt ", format({ channels: 2 })),
    chunk("data", [1, 0, 3, 0, 0xff, 0x7f, 0xff, 0x7f]),
  ]);
  assert.deepEqual(parseWav(bytes), { samples: Int16Array.of(2, 32_767), sampleRateHz: 8000 });
});

test("reads what other programs write", () => {
  const data = chunk("data", [5, 0, 6, 0]);
  const endless = [...name("data"), 0xff, 0xff, 0xff, 0xff, 5, 0, 6, 0, 7];
  const extensible = [
    ...format({ tag: 0xfffe }),
    22,
    0,
    16,
    0,
    4,
    0,
    0,
    0,
    1,
    0,
    ...Array.from({ length: 14 }, () => 9),
  ];
  const table: [string, number[][]][] = [
    ["plain", [chunk("fmt ", format()), data]],
    [
      "other chunks, one of odd length",
      [chunk("LIST", [1, 2, 3]), chunk("fmt ", format()), chunk("fact", [1]), data],
    ],
    ["extensible", [chunk("fmt ", extensible), data]],
    ["written into a pipe, cut within a sample", [chunk("fmt ", format()), endless]],
    ["more after the sound", [chunk("fmt ", format()), data, chunk("LIST", [1, 2])]],
  ];
  for (const [title, chunks] of table) {
    assert.deepEqual(parseWav(wav(chunks)).samples, Int16Array.of(5, 6), title);
    const shifted = Uint8Array.from([0, ...wav(chunks)]).subarray(1);
    assert.deepEqual(parseWav(shifted).samples, Int16Array.of(5, 6), `${title}, at an odd place`);
  }
});

test("refuses the rest", () => {
  const data = chunk("data", [5, 0]);
  const table: [Uint8Array, RegExp][] = [
    [new Uint8Array(0), /Not a WAV/],
    [Buffer.from("ID3 not a wav file at all"), /Not a WAV/],
    [wav([]), /no format or no sound/],
    [wav([data]), /no format/],
    [wav([chunk("fmt ", format())]), /no sound/],
    [wav([chunk("fmt ", [1, 0]), data]), /cut short/],
    [wav([chunk("fmt ", format({ tag: 7, bits: 8 })), data]), /8 bits, format 7/],
    [wav([chunk("fmt ", format({ bits: 24 })), data]), /24 bits/],
    [wav([chunk("fmt ", format({ channels: 6 })), data]), /6 channels/],
    [wav([chunk("fmt ", format({ channels: 0 })), data]), /0 channels/],
    [wav([chunk("fmt ", format({ hz: 0 })), data]), /rate is 0/],
  ];
  for (const [bytes, message] of table) assert.throws(() => parseWav(bytes), message);
});

test("broken bytes throw an ordinary error", () => {
  const good = writeWav({ samples: Int16Array.of(1, 2, 3), sampleRateHz: 8000 });
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.nat(255), fc.nat(good.length), (at, value, length) => {
      const bytes = Uint8Array.from(good);
      bytes[at] = value;
      try {
        parseWav(bytes.subarray(0, length));
      } catch (error) {
        assert.equal((error as Error).name, "Error");
      }
    }),
    { numRuns: 1000 },
  );
});

function wav(chunks: number[][]): Uint8Array {
  return Uint8Array.from([...name("RIFF"), 0, 0, 0, 0, ...name("WAVE"), ...chunks.flat()]);
}

function chunk(title: string, bytes: number[]): number[] {
  return [...name(title), bytes.length, 0, 0, 0, ...bytes, ...(bytes.length % 2 ? [0] : [])];
}

function format({ tag = 1, channels = 1, hz = 8000, bits = 16 } = {}): number[] {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(tag, 0);
  bytes.writeUInt16LE(channels, 2);
  bytes.writeUInt32LE(hz, 4);
  bytes.writeUInt16LE(bits, 14);
  return [...bytes];
}

function name(text: string): number[] {
  return [...Buffer.from(text, "latin1")];
}
