/** A stretch of mono sound: PCM, signed 16 bit. */
export interface AudioFrame {
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
  /** Share of it that the voice filter takes for the caller, from 0 to 1; absent where no filter judges. */
  readonly nearShare?: number;
}

/** Length of the frames a bot hears, whatever the transport. */
export const FRAME_MS = 20;

export function frameMs(frame: AudioFrame): number {
  return (frame.samples.length * 1000) / frame.sampleRateHz;
}

export function samplesIn(ms: number, sampleRateHz: number): number {
  return Math.round((ms * sampleRateHz) / 1000);
}

/** Cuts a stream into frames of one length, whatever the length of the pieces it comes in. */
export function createFramer(options: FramerOptions): Framer {
  const { samplesPerFrame } = options;
  if (!Number.isInteger(samplesPerFrame) || samplesPerFrame < 1) {
    throw new RangeError(`A frame cannot have ${samplesPerFrame} samples`);
  }
  let frame = new Int16Array(samplesPerFrame);
  let filled = 0;

  return {
    push(samples) {
      const frames: Int16Array[] = [];
      for (let done = 0; done < samples.length;) {
        const part = samples.subarray(done, done + samplesPerFrame - filled);
        frame.set(part, filled);
        filled += part.length;
        done += part.length;
        if (filled < samplesPerFrame) break;
        frames.push(frame);
        frame = new Int16Array(samplesPerFrame);
        filled = 0;
      }
      return frames;
    },
    flush() {
      if (filled === 0) return undefined;
      const last = frame;
      frame = new Int16Array(samplesPerFrame);
      filled = 0;
      return last;
    },
  };
}

interface FramerOptions {
  samplesPerFrame: number;
}

export interface Framer {
  /** The frames that are full now, each with memory of its own. */
  push(samples: Int16Array): Int16Array[];
  /** The rest, padded with silence; undefined when there is none. */
  flush(): Int16Array | undefined;
}
