import { rmsLevel } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, createEncoder, Signal } from "libopus-wasm";
import fc from "fast-check";
import { size } from "../../../../testing/sizes.ts";
import { createOpusDecoder, createOpusEncoder, OPUS_RATES } from "./opus.ts";

test("a tone survives at every rate", async () => {
  for (const sampleRateHz of OPUS_RATES) {
    const encoder = await createOpusEncoder({ sampleRateHz });
    const decoder = await createOpusDecoder({ sampleRateHz });
    const frames = voiceFrames(sampleRateHz, 50);
    const heard = frames.map((frame) => decoder.decode(encoder.encode(frame)));
    assert.ok(heard.every((frame) => frame.length === sampleRateHz / 50));
    const level = rmsLevel(joined(heard.slice(10)));
    assert.ok(Math.abs(level / rmsLevel(joined(frames.slice(10))) - 1) < 0.2, `${sampleRateHz} Hz: ${level}`);
    encoder.free();
    decoder.free();
  }
});

test("packets hold about 32 kbit/s", async () => {
  const encoder = await createOpusEncoder({ sampleRateHz: 24_000 });
  const bytes = voiceFrames(24_000, 100).reduce((sum, frame) => sum + encoder.encode(frame).length, 0);
  assert.ok(bytes > 4000 && bytes < 10_000, `${bytes} bytes in 2 s`);
  encoder.free();
});

test("stereo comes out as mono, at the rate of the decoder", async () => {
  const encoder = await createEncoder({ sampleRate: 48_000, channels: 2 });
  const decoder = await createOpusDecoder({ sampleRateHz: 16_000 });
  const heard = voiceFrames(48_000, 20).map((frame) => {
    const both = Int16Array.from({ length: 1920 }, (_, i) => frame[i >> 1]!);
    return decoder.decode(encoder.encode(both));
  });
  assert.ok(heard.every((frame) => frame.length === 320));
  assert.ok(rmsLevel(heard.at(-1)!) > 0.1);
  encoder.free();
  decoder.free();
});

test("a lost frame is recovered from the packet after it, better than by concealment", async () => {
  const frames = voiceFrames(16_000, 60);
  const packets = await encodeAll(frames);
  const clean = await decodeAll(packets);
  let recoveredError = 0;
  let concealedError = 0;
  for (let lost = 20; lost < 50; lost++) {
    const [recovering, concealing] = [await decoderAfter(packets, lost), await decoderAfter(packets, lost)];
    assert.ok(recovering.canRecover(packets[lost + 1]!));
    const recovered = recovering.recover(packets[lost + 1]!);
    const concealed = concealing.conceal();
    assert.equal(recovered.length, 320);
    assert.equal(concealed.length, 320);
    recoveredError += levelError(recovered, clean[lost]!);
    concealedError += levelError(concealed, clean[lost]!);
    recovering.free();
    concealing.free();
  }
  assert.ok(recoveredError < concealedError * 0.7, `${recoveredError} against ${concealedError}`);
});

test("knows which packets carry a copy, whatever the length and the channels", async () => {
  let [withCopy, without] = [0, 0];
  for (const channels of [1, 2] as const) {
    for (const ms of [10, 20, 40, 60]) {
      const encoder = await createEncoder({
        sampleRate: 16_000,
        channels,
        frameSize: 16 * ms,
        application: Application.Voip,
        signal: Signal.Voice,
        bitrate: 24_000,
        fec: true,
        packetLossPercent: 10,
      });
      const voice = joined(voiceFrames(16_000, 60));
      const packets = Array.from({ length: 1200 / ms }, (_, i) => {
        const frame = voice.subarray(i * ms * 16, (i + 1) * ms * 16);
        if (i % 7 === 3) encoder.setFec(i % 2 === 0);
        return encoder.encode(
          Int16Array.from({ length: frame.length * channels }, (_, j) => frame[Math.floor(j / channels)]!),
        );
      });
      for (let lost = 2; lost + 1 < packets.length; lost++) {
        const next = packets[lost + 1]!;
        if (next[0] !== packets[lost - 1]![0]) continue; // a change of bandwidth alters both ways
        const [recovering, concealing] = [
          await decoderAfter(packets, lost),
          await decoderAfter(packets, lost),
        ];
        const isSame = levelError(recovering.recover(next, ms), concealing.conceal(ms)) === 0;
        assert.equal(recovering.canRecover(next), !isSame, `${channels} channels, ${ms} ms, packet ${lost}`);
        if (isSame) without++;
        else withCopy++;
        recovering.free();
        concealing.free();
      }
      encoder.free();
    }
  }
  assert.ok(withCopy > 50 && without > 50, `${withCopy} with, ${without} without`);
});

test("without error correction there is nothing to recover from", async () => {
  const decoder = await createOpusDecoder({ sampleRateHz: 16_000 });
  const packets = await encodeAll(voiceFrames(16_000, 30), { fec: false });
  assert.ok(packets.every((packet) => !decoder.canRecover(packet)));
  for (const bytes of [[], [0x08], [0xf8, 0xff, 0xfe], [0x0b, 0xff, 0xff]]) {
    assert.equal(decoder.canRecover(Uint8Array.from(bytes)), false);
  }
  decoder.free();
});

test("concealment is as long as asked for", async () => {
  const decoder = await createOpusDecoder({ sampleRateHz: 16_000 });
  for (const durationMs of [2.5, 10, 20, 40, 60]) {
    assert.equal(decoder.conceal(durationMs).length, durationMs * 16);
  }
  decoder.free();
});

test("corrupt packets throw an ordinary error and leave the decoder usable", async () => {
  const decoder = await createOpusDecoder({ sampleRateHz: 16_000 });
  for (const bytes of [[], [0xff], [0x0b, 0x00], [0x0a, 0xfe], [0x09, 1, 2, 3]]) {
    assert.throws(() => decoder.decode(Uint8Array.from(bytes)), Error);
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      try {
        const { length } = decoder.decode(bytes);
        assert.ok(length > 0 && length <= 1920);
      } catch (error) {
        assert.ok(["OpusError", "RangeError"].includes((error as Error).name), String(error));
      }
    }),
    { numRuns: size(500, 3_000) },
  );
  const packets = await encodeAll(voiceFrames(16_000, 5));
  for (const packet of packets) assert.equal(decoder.decode(packet).length, 320);
  decoder.free();
});

test("what was given back is not overwritten by the next call", async () => {
  const encoder = await createOpusEncoder({ sampleRateHz: 16_000 });
  const decoder = await createOpusDecoder({ sampleRateHz: 16_000 });
  const [first, second] = voiceFrames(16_000, 2) as [Int16Array, Int16Array];
  const packet = encoder.encode(first);
  const packetBefore = Uint8Array.from(packet);
  const samples = decoder.decode(packet);
  const samplesBefore = Int16Array.from(samples);
  decoder.decode(encoder.encode(second));
  assert.deepEqual(packet, packetBefore);
  assert.deepEqual(samples, samplesBefore);
  encoder.free();
  decoder.free();
});

test("settings out of range are refused", async () => {
  await assert.rejects(createOpusEncoder({ sampleRateHz: 44_100 }), /44100 Hz/);
  await assert.rejects(createOpusDecoder({ sampleRateHz: 11_025 }), /11025 Hz/);
  await assert.rejects(createOpusEncoder({ sampleRateHz: 8000, complexity: 11 }), RangeError);
  const encoder = await createOpusEncoder({ sampleRateHz: 8000 });
  encoder.setComplexity(1);
  encoder.setPacketLossPercent(20);
  assert.throws(() => encoder.setComplexity(-1), RangeError);
  assert.throws(() => encoder.encode(new Int16Array(100)), RangeError);
  encoder.free();
  encoder.free();
  assert.throws(() => encoder.encode(new Int16Array(160)), /freed/);
});

/** A gliding buzz: tonal like a voice, and never repeating. */
function voiceFrames(sampleRateHz: number, count: number): Int16Array[] {
  const samplesPerFrame = sampleRateHz / 50;
  let phase = 0;
  return Array.from({ length: count }, (_, frame) =>
    Int16Array.from({ length: samplesPerFrame }, () => {
      phase += (2 * Math.PI * (140 + 40 * Math.sin(frame / 4))) / sampleRateHz;
      const loudness = 5000 + 4000 * Math.sin(frame / 3);
      return loudness * (Math.sin(phase) + 0.7 * Math.sin(3 * phase) + 0.4 * Math.sin(7 * phase));
    }),
  );
}

async function encodeAll(frames: Int16Array[], options: { fec?: boolean } = {}): Promise<Uint8Array[]> {
  const encoder = await createOpusEncoder({ sampleRateHz: 16_000, ...options });
  const packets = frames.map((frame) => encoder.encode(frame));
  encoder.free();
  return packets;
}

async function decodeAll(packets: Uint8Array[]): Promise<Int16Array[]> {
  const decoder = await createOpusDecoder({ sampleRateHz: 16_000 });
  const frames = packets.map((packet) => decoder.decode(packet));
  decoder.free();
  return frames;
}

async function decoderAfter(packets: Uint8Array[], count: number) {
  const decoder = await createOpusDecoder({ sampleRateHz: 16_000 });
  for (const packet of packets.slice(0, count)) decoder.decode(packet);
  return decoder;
}

function levelError(heard: Int16Array, meant: Int16Array): number {
  return rmsLevel(heard.map((sample, i) => sample - meant[i]!));
}

function joined(frames: Int16Array[]): Int16Array {
  return Int16Array.from(frames.flatMap((frame) => [...frame]));
}
