// Child process: what Opus by itself costs here, as a measure for everything around it.
import { createOpusDecoder, createOpusEncoder } from "../../packages/sdk/src/media/opus.ts";
import { readCall } from "../load/speech.ts";

const ROUNDS = 12;
const FRAME_SAMPLES = 480;

const call = readCall({ sampleRateHz: 24_000, pauseMs: 0 });
const encoder = await createOpusEncoder({ sampleRateHz: 24_000, complexity: Number(process.argv[2]) });
const decoder = await createOpusDecoder({ sampleRateHz: 16_000 });
let bestMs = Infinity;
for (let round = 0; round < ROUNDS; round += 1) {
  const before = process.cpuUsage();
  for (let at = 0; at + FRAME_SAMPLES <= call.length; at += FRAME_SAMPLES)
    decoder.decode(encoder.encode(call.subarray(at, at + FRAME_SAMPLES)));
  const { user, system } = process.cpuUsage(before);
  bestMs = Math.min(bestMs, (user + system) / 1000);
}
// CPU ms per second of audio.
process.send?.(bestMs / (call.length / 24_000));
process.disconnect?.();
