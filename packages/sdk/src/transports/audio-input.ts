import {
  FRAME_MS,
  createFramer,
  createResampler,
  samplesIn,
  type AudioFrame,
  type Resampler,
} from "@vocalhost/audio";
import type { FilterStage } from "../filters/filter-stage.ts";
import { createBoundedStream, type BoundedStream } from "./bounded-stream.ts";
import type { AudioInput, AudioInputBranch } from "./transport.ts";

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
  /** Who reads it did not do so in time. */
  dropped?(ms: number): void;
}

const FIRST_WORDS_MS = 3_000; // a bot that has something to do before it listens
const BETWEEN_LOOPS_MS = 500; // one that goes on in another loop

export function createAudioInput(options: AudioInputOptions): AudioInputSource {
  const { sampleRateHz, filter } = options;
  const framer = createFramer({ samplesPerFrame: samplesIn(FRAME_MS, sampleRateHz) });
  const branches = new Set<BoundedStream<AudioFrame>>();
  // Kept, so that a client whose rate changes with every frame does not cost us a filter each time.
  const resamplers = new Map<number, Resampler>();
  // What a filter gives is of any length.
  const filteredFramer = createFramer({ samplesPerFrame: samplesIn(FRAME_MS, sampleRateHz) });
  let ended = false;
  let unreadMs = 0;

  function give(samples: Int16Array): void {
    let isFirst = true;
    unreadMs = main.stream.isRead ? 0 : unreadMs + FRAME_MS;
    for (const branch of branches) {
      if (isUnwanted(branch)) {
        branch.clear();
        continue;
      }
      const before = branch.dropped;
      // Each reader may do with its samples what it likes.
      branch.push({ samples: isFirst ? samples : samples.slice(), sampleRateHz });
      isFirst = false;
      // A bot that never listens misses nothing.
      if (branch.dropped > before && branch.wasRead) options.dropped?.(FRAME_MS);
    }
  }

  /** A loop that begins later hears what is said then; a `tee` is for those who want all of it. */
  function isUnwanted(branch: BoundedStream<AudioFrame>): boolean {
    return branch === main.stream && unreadMs > (branch.wasRead ? BETWEEN_LOOPS_MS : FIRST_WORDS_MS);
  }

  function hear(samples: Int16Array): void {
    for (const frame of filteredFramer.push(samples)) give(frame);
  }

  function branch(
    maxQueuedMs: number,
    unread: readonly AudioFrame[],
  ): { input: AudioInputBranch; stream: BoundedStream<AudioFrame> } {
    const stream = createBoundedStream<AudioFrame>({
      maxItems: Math.max(1, Math.floor(maxQueuedMs / FRAME_MS)),
      name: "This audio",
      advice: "Give each reader its own with audioIn.tee().",
    });
    branches.add(stream);
    for (const { samples } of unread) stream.push({ samples: samples.slice(), sampleRateHz });
    if (ended) stream.end();
    const input: AudioInputBranch = {
      sampleRateHz,
      get droppedFrames() {
        return stream.dropped;
      },
      flush: () => stream.clear(),
      tee: (tee = {}) => branch(tee.maxQueuedMs ?? maxQueuedMs, stream.unread()).input,
      [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
      [Symbol.dispose]() {
        branches.delete(stream);
        stream.end();
      },
    };
    return { input, stream };
  }

  const main = branch(options.maxQueuedMs, []);

  function toInputRate(samples: Int16Array, fromHz: number): Int16Array {
    if (fromHz === sampleRateHz) return samples;
    const resampler = resamplers.get(fromHz) ?? createResampler({ fromHz, toHz: sampleRateHz });
    resamplers.set(fromHz, resampler);
    return resampler.process(samples);
  }

  return {
    input: main.input,
    push(samples, fromHz) {
      if (ended) return;
      for (const frame of framer.push(toInputRate(samples, fromHz)))
        if (filter) hear(filter.process(frame));
        else give(frame);
    },
    end() {
      ended = true;
      if (filter) hear(filter.end());
      for (const stream of branches) stream.end();
    },
  };
}
