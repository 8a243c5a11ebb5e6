/** Sound at its place in time: what is written where nothing was is preceded by silence. */
export function createTimeline(options: TimelineOptions): Timeline {
  let memory = new Int16Array(FIRST_SAMPLES);
  let length = 0;

  function reserve(samples: number): void {
    if (samples <= memory.length) return;
    const larger = new Int16Array(Math.max(samples, memory.length * 2));
    larger.set(memory.subarray(0, length));
    memory = larger;
  }

  return {
    write(at, samples) {
      const fitting = samples.subarray(0, Math.max(0, options.maxSamples - at));
      if (fitting.length === 0) return;
      reserve(at + fitting.length);
      memory.set(fitting, at);
      length = Math.max(length, at + fitting.length);
    },
    cut(at) {
      if (at >= length) return;
      memory.fill(0, at, length);
      length = at;
    },
    read(from, to) {
      const samples = new Int16Array(Math.max(0, to - from));
      samples.set(memory.subarray(Math.min(from, length), Math.min(to, length)));
      return samples;
    },
    get length() {
      return length;
    },
  };
}

export interface TimelineOptions {
  /** Audio after this is dropped. */
  maxSamples: number;
}

export interface Timeline {
  write(at: number, samples: Int16Array): void;
  /** Forgets everything from there on. */
  cut(at: number): void;
  /** A copy, with silence where nothing is. */
  read(from: number, to: number): Int16Array;
  /** Where the last sound ends. */
  readonly length: number;
}

const FIRST_SAMPLES = 8192;
