import { createEncoder } from "libopus-wasm";
import { readFileSync } from "node:fs";
import { createResampler, parseWav, type AudioFrame } from "vocalhost";

const RECORDING = new URL("../../packages/sdk/src/speech/fixtures/table-for-two.wav", import.meta.url);
const OPUS_HZ = 48_000;
const PACKET_SAMPLES = 960;
const QUIET = 0.01; // of full scale; below this the recording holds no speech

/** The speech of a caller: one sentence without the silence around it. */
export function readSentence(): AudioFrame {
  const { samples, sampleRateHz } = parseWav(readFileSync(RECORDING));
  const isLoud = (sample: number): boolean => Math.abs(sample) > QUIET * 0x7fff;
  const sentence = samples.slice(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
  return { samples: sentence, sampleRateHz };
}

/** The sentence and then so much silence, over and over, at any rate. */
export function readCall(options: { sampleRateHz: number; pauseMs: number }): Int16Array {
  const sentence = readSentence();
  const resampler = createResampler({ fromHz: sentence.sampleRateHz, toHz: options.sampleRateHz });
  const spoken = resampler.process(sentence.samples);
  const call = new Int16Array(spoken.length + (options.pauseMs * options.sampleRateHz) / 1000);
  call.set(spoken);
  return call;
}

/** The call as a browser would send it: Opus at 32 kbit/s with copies against loss, 20 ms a packet. */
export async function encodeCall(pauseMs: number): Promise<Uint8Array[]> {
  const call = readCall({ sampleRateHz: OPUS_HZ, pauseMs });
  const encoder = await createEncoder({
    sampleRate: OPUS_HZ,
    channels: 1,
    bitrate: 32_000,
    fec: true,
    packetLossPercent: 5,
  });
  const packets: Uint8Array[] = [];
  for (let at = 0; at + PACKET_SAMPLES <= call.length; at += PACKET_SAMPLES)
    packets.push(encoder.encode(call.subarray(at, at + PACKET_SAMPLES)));
  encoder.free();
  return packets;
}
