import type { PolyphaseFilter } from "./polyphase-filter.ts";

/** Where a filter is run over samples. The places may be shared: each use fills them anew. */
export interface Convolution {
  /** Takes what was there before, then at most `pieceMax` new samples. */
  readonly input: Float32Array;
  readonly pieceMax: number;
  /** Gives `count` samples, which are there until the next run. `position` is that of the first in `input`. */
  run(place: { position: number; phase: number; count: number }): Int16Array;
}

export const PIECE_MAX = 4096;
export const OUTPUT_MAX = 8192;

/** How many samples may come at once. */
export function pieceMaxOf({ up, down }: PolyphaseFilter): number {
  return Math.min(PIECE_MAX, Math.floor(((OUTPUT_MAX - 1) * down) / up));
}
