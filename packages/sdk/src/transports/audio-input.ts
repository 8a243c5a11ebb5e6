import {
  FRAME_MS,
  createFramer,
  createResampler,
  samplesIn,
  type AudioFrame,
  type Resampler,
} from "@vocalhost/audio";
import type { FilterStage } from "../filters/filter-stage.ts";
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
  filter: FilterStage | undefined;
}

export function createAudioInput(options: AudioInputOptions): AudioInputSource {
  const { sampleRateHz, filter } = options;
  const framer = createFramer({ samplesPerFrame: samplesIn(FRAME_MS, sampleRateHz) });
  const stream = createBoundedStream<AudioFrame>(Math.max(1, Math.floor(options.maxQueuedMs / FRAME_MS)));
  // Kept, so that a client whose rate changes with every frame does not cost us a filter each time.
  const resamplers = new Map<number, Resampler>();
  // What a filter gives is of any length.
  const filteredFramer = createFramer({ samplesPerFrame: samplesIn(FRAME_MS, sampleRateHz) });
  let ended = false;

  function hear(samples: Int16Array): void {
    for (const frame of filteredFramer.push(samples)) stream.push({ samples: frame, sampleRateHz });
  }

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
      if (ended) return;
      for (const frame of framer.push(toInputRate(samples, fromHz)))
        if (filter) hear(filter.process(frame));
        else stream.push({ samples: frame, sampleRateHz });
    },
    end() {
      ended = true;
      if (filter) hear(filter.end());
      stream.end();
    },
  };
}
