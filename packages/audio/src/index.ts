// Frames of PCM
export { FRAME_MS, frameMs, samplesIn } from "./frame.ts";
export type { AudioFrame } from "./frame.ts";
export { createFramer } from "./frame.ts";
export type { Framer } from "./frame.ts";
export { createResampler } from "./resample.ts";
export type { Resampler } from "./resample.ts";
export { dtmfTones } from "./dtmf.ts";
export { rmsLevel } from "./pcm-bytes.ts";

// Files and wires
export { parseWav, writeWav } from "./wav.ts";
export { decodeG711, encodeG711, G711_SILENCE } from "./g711.ts";
export type { CompandingLaw } from "./g711.ts";
export { pcmBytes, pcmSamples } from "./pcm-bytes.ts";
