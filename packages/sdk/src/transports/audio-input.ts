import {
  FRAME_MS,
  createFramer,
  createResampler,
  samplesIn,
  type AudioFrame,
  type Resampler,
} from "@vocalhost/audio";
import type { AudioFilter } from "../filters/audio-filter.ts";
import { createBoundedStream } from "./bounded-stream.ts";
import type { AudioInput } from "./transport.ts";

/** The bot's ear, and the side on which a transport puts what it received. */
export interface AudioInputSource {
  readonly input: AudioInput;
  /** Takes mono samples of any rate and length. */
  push(samples: Int16Array, sampleRateHz: number): void;
  end(): void;
}

export interface AudioInputOptions {
  sampleRateHz: number;
  maxQueuedMs: number;
  filter: AudioFilter | undefined;
}

export function createAudioInput(options: AudioInputOptions): AudioInputSource {
  const { sampleRateHz, filter } = options;
  const framer = createFramer({ samplesPerFrame: samplesIn(FRAME_MS, sampleRateHz) });
  const stream = createBoundedStream<AudioFrame>(Math.max(1, Math.floor(options.maxQueuedMs / FRAME_MS)));
  // Kept, so that a client whose rate changes with every frame does not cost us a filter each time.
  const resamplers = new Map<number, Resampler>();
  let ended = false;

  function toInputRate(samples: Int16Array, fromHz: number): Int16Array {
    if (fromHz === sampleRateHz) return samples;
    const resampler = resamplers.get(fromHz) ?? createResampler({ fromHz, toHz: sampleRateHz });
    resamplers.set(fromHz, resampler);
    return resampler.process(samples);
  }

  return {
    input: {
      sampleRateHz,
      get droppedFrames() {
        return stream.dropped;
      },
      [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
    },
    push(samples, fromHz) {
      if (ended) return; // the filter may be stopped by now
      for (const frame of framer.push(toInputRate(samples, fromHz)))
        stream.push({ samples: filter ? filter.process(frame) : frame, sampleRateHz });
    },
    end() {
      ended = true;
      stream.end();
    },
  };
}
