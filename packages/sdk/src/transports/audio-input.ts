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

/** The bot's audio input, and the functions through which the transport feeds it. */
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
  /** Called when a reader did not read audio in time. */
  dropped?(ms: number): void;
}

const FIRST_WORDS_MS = 3_000; // for a bot that prepares something before it listens
const BETWEEN_LOOPS_MS = 500; // for a bot that moves from one loop to another

export function createAudioInput(options: AudioInputOptions): AudioInputSource {
  return new BranchedInput(options);
}

class BranchedInput implements AudioInputSource {
  readonly #options: AudioInputOptions;
  readonly #framer;
  readonly #branches = new Set<BoundedStream<AudioFrame>>();
  // Kept per rate, so that a client that changes its rate with every frame does not cost a new resampler each
  // time.
  readonly #resamplers = new Map<number, Resampler>();
  // Filters may return any number of samples.
  readonly #filteredFramer;
  #ended = false;
  #unreadMs = 0;
  readonly #main;
  readonly input: AudioInput;

  constructor(options: AudioInputOptions) {
    this.#options = options;
    this.#framer = createFramer({ samplesPerFrame: samplesIn(FRAME_MS, options.sampleRateHz) });
    this.#filteredFramer = createFramer({ samplesPerFrame: samplesIn(FRAME_MS, options.sampleRateHz) });
    this.#main = this.#branch(options.maxQueuedMs, []);
    this.input = this.#main.input;
  }

  push(samples: Int16Array, fromHz: number): void {
    if (this.#ended) return;
    for (const frame of this.#framer.push(this.#toInputRate(samples, fromHz)))
      if (this.#options.filter) this.#hear(this.#options.filter.process(frame));
      else this.#give(frame);
  }

  end(): void {
    this.#ended = true;
    if (this.#options.filter) this.#hear(this.#options.filter.end());
    for (const stream of this.#branches) stream.end();
  }

  #give(samples: Int16Array): void {
    const { filter, sampleRateHz } = this.#options;
    const nearShare = filter?.nearShare;
    const frame = { samples, sampleRateHz, ...(nearShare !== undefined && { nearShare }) };
    let isFirst = true;
    this.#unreadMs = this.#main.stream.isRead ? 0 : this.#unreadMs + FRAME_MS;
    for (const branch of this.#branches) {
      if (this.#isUnwanted(branch)) {
        branch.clear();
        continue;
      }
      const before = branch.dropped;
      // Each reader may modify its samples.
      branch.push({ ...frame, samples: isFirst ? samples : samples.slice() });
      isFirst = false;
      // A bot that never reads loses nothing.
      if (branch.dropped > before && branch.wasRead) this.#options.dropped?.(FRAME_MS);
    }
  }

  /** A loop that begins later hears current audio; a `tee` keeps all of it. */
  #isUnwanted(branch: BoundedStream<AudioFrame>): boolean {
    return (
      branch === this.#main.stream && this.#unreadMs > (branch.wasRead ? BETWEEN_LOOPS_MS : FIRST_WORDS_MS)
    );
  }

  #hear(samples: Int16Array): void {
    for (const frame of this.#filteredFramer.push(samples)) this.#give(frame);
  }

  #branch(
    maxQueuedMs: number,
    unread: readonly AudioFrame[],
  ): { input: AudioInputBranch; stream: BoundedStream<AudioFrame> } {
    const stream = createBoundedStream<AudioFrame>({
      maxItems: Math.max(1, Math.floor(maxQueuedMs / FRAME_MS)),
      name: "This audio",
      advice: "Give each reader its own with audioIn.tee().",
    });
    this.#branches.add(stream);
    for (const frame of unread) stream.push({ ...frame, samples: frame.samples.slice() });
    if (this.#ended) stream.end();
    const input: AudioInputBranch = {
      sampleRateHz: this.#options.sampleRateHz,
      get droppedFrames() {
        return stream.dropped;
      },
      flush: () => stream.clear(),
      tee: (tee = {}) => this.#branch(tee.maxQueuedMs ?? maxQueuedMs, stream.unread()).input,
      [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
      [Symbol.dispose]: () => {
        this.#branches.delete(stream);
        stream.end();
      },
    };
    return { input, stream };
  }

  #toInputRate(samples: Int16Array, fromHz: number): Int16Array {
    if (fromHz === this.#options.sampleRateHz) return samples;
    const resampler =
      this.#resamplers.get(fromHz) ?? createResampler({ fromHz, toHz: this.#options.sampleRateHz });
    this.#resamplers.set(fromHz, resampler);
    return resampler.process(samples);
  }
}
