/** Creates a buffer of a stream's recent samples, addressed by position since its beginning. */
export function createSampleHistory(): SampleHistory {
  let chunks: Int16Array[] = [];
  let start = 0;
  let end = 0;

  return {
    get start() {
      return start;
    },
    get end() {
      return end;
    },
    push(samples) {
      chunks.push(samples.slice());
      end += samples.length;
    },
    slice(from, to) {
      const result = new Int16Array(Math.max(0, Math.min(to, end) - Math.max(from, start)));
      let chunkStart = start;
      for (const chunk of chunks) {
        const part = chunk.subarray(Math.max(0, from - chunkStart), Math.max(0, to - chunkStart));
        if (part.length > 0) result.set(part, Math.max(0, chunkStart - Math.max(from, start)));
        chunkStart += chunk.length;
      }
      return result;
    },
    dropBefore(position) {
      let whole = 0;
      while (whole < chunks.length && start + chunks[whole]!.length <= position) {
        start += chunks[whole]!.length;
        whole++;
      }
      chunks = chunks.slice(whole);
    },
  };
}

export interface SampleHistory {
  /** The first position still stored. */
  readonly start: number;
  readonly end: number;
  /** Copies the samples. */
  push(samples: Int16Array): void;
  /** Returns the stored samples between two positions. */
  slice(from: number, to: number): Int16Array;
  /** Drops samples before the position, in whole chunks only. */
  dropBefore(position: number): void;
}
