/** A noise suppressor of others, to compare with: takes frames of samples between -1 and 1. */
export interface Suppressor {
  sampleRateHz: number;
  frameSamples: number;
  /** Samples that the output lies behind the input. */
  delaySamples: number;
  /** Opens one stream: gives a frame for a frame. */
  open(): (frame: Float32Array) => Float32Array;
}
