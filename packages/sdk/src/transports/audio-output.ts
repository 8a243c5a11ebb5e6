import { createResampler, samplesIn, type AudioFrame, type Resampler } from "@vocalhost/audio";
import type { AudioOutput, WaitOptions } from "./transport.ts";
import { waitFor } from "./wait-for.ts";

/** The bot's mouth, and the side on which the transport tells how far it has got. */
export interface AudioOutputSink {
  readonly output: AudioOutput;
  /** Samples of this generation that have been played. */
  played(generation: number, samples: number): void;
  speaking(speaking: boolean): void;
  end(): void;
}

export interface AudioOutputOptions {
  sampleRateHz: number;
  maxQueuedMs: number;
  /** The samples are the callee's own, with nothing else in the memory behind them. */
  play(samples: Int16Array): void;
  /** A new generation begins: everything played from now on belongs to it. */
  clear(generation: number): void;
}

const ENOUGH_QUEUED_MS = 2_000; // a writer that waits here still never lets the queue run dry

export function createAudioOutput(options: AudioOutputOptions): AudioOutputSink {
  const { sampleRateHz } = options;
  const maxSamples = samplesIn(options.maxQueuedMs, sampleRateHz);
  const enoughSamples = Math.min(samplesIn(ENOUGH_QUEUED_MS, sampleRateHz), maxSamples);
  const listeners = { started: new Set<() => void>(), stopped: new Set<() => void>() };
  let waiting: { reached(): boolean; resolve(): void }[] = [];
  let resampler: { fromHz: number; run: Resampler } | undefined;
  let generation = 0;
  let written = 0;
  let played = 0;
  let droppedSamples = 0;
  let ended = false;

  function settle(): void {
    const reached = waiting.filter((waiter) => ended || waiter.reached());
    if (reached.length === 0) return;
    waiting = waiting.filter((waiter) => !reached.includes(waiter));
    for (const waiter of reached) waiter.resolve();
  }

  function until(reached: () => boolean, wait: WaitOptions | undefined): Promise<void> {
    if (ended || reached()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = { reached, resolve };
    waiting.push(waiter);
    const forget = (): void => {
      waiting = waiting.filter((other) => other !== waiter);
    };
    return waitFor(promise, { ...wait, what: "the audio queue", onGiveUp: forget });
  }

  function toOutputRate(frame: AudioFrame): Int16Array {
    if (frame.sampleRateHz === sampleRateHz) return frame.samples;
    if (resampler?.fromHz !== frame.sampleRateHz)
      resampler = {
        fromHz: frame.sampleRateHz,
        run: createResampler({ fromHz: frame.sampleRateHz, toHz: sampleRateHz }),
      };
    return resampler.run.process(frame.samples);
  }

  const output: AudioOutput = {
    sampleRateHz,
    get queuedMs() {
      return ((written - played) * 1000) / sampleRateHz;
    },
    get droppedMs() {
      return (droppedSamples * 1000) / sampleRateHz;
    },
    write(frame) {
      if (ended) return false;
      const samples = toOutputRate(frame);
      const space = Math.max(0, maxSamples - (written - played));
      // A copy of exactly this: the frame stays the bot's, and what crosses to another thread takes along the
      // whole memory behind it.
      const accepted = samples.slice(0, space);
      droppedSamples += samples.length - accepted.length;
      written += accepted.length;
      if (accepted.length > 0) options.play(accepted);
      return written - played < enoughSamples;
    },
    ready: (wait) => until(() => written - played < enoughSamples, wait),
    clear() {
      if (written === played) return; // nobody would notice
      generation += 1;
      written = 0;
      played = 0;
      resampler = undefined;
      options.clear(generation);
      settle();
    },
    drained(wait) {
      const target = written;
      const since = generation;
      return until(() => generation !== since || played >= target, wait);
    },
    on: (event, listener) => void listeners[event].add(listener),
    off: (event, listener) => void listeners[event].delete(listener),
  };
  return {
    output,
    played(ofGeneration, samples) {
      if (ofGeneration !== generation) return; // from before the last clear
      played = samples;
      settle();
    },
    speaking(speaking) {
      for (const listener of listeners[speaking ? "started" : "stopped"]) listener();
    },
    end() {
      ended = true;
      settle();
    },
  };
}
