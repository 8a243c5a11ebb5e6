import { createResampler, samplesIn, type AudioFrame, type Resampler } from "@vocalhost/audio";
import type { AudioOutput, Playback, WaitOptions } from "./transport.ts";
import { waitFor } from "./wait-for.ts";

/** The bot's mouth, and the side on which the transport tells how far it has got. */
export interface AudioOutputSink {
  readonly output: AudioOutput;
  /** Samples of this generation that have been played. */
  played(generation: number, samples: number): void;
  speaking(speaking: boolean): void;
  /** Counts what is queued as thrown away. */
  giveUp(): void;
  end(): void;
}

export interface AudioOutputOptions {
  sampleRateHz: number;
  maxQueuedMs: number;
  /** The samples are the callee's own, with nothing else in the memory behind them. */
  play(samples: Int16Array): void;
  /** A new generation begins: everything played from now on belongs to it. Ends a pause. */
  clear(generation: number): void;
  /** Nothing is played until it is false again; what is queued waits. Of this generation so much has been heard. */
  pause(paused: boolean, heardSamples: number): void;
  /** So much was thrown away. */
  dropped?(ms: number, why: string): void;
  /** @default performance.now */
  nowMs?: () => number;
}

const ENOUGH_QUEUED_MS = 2_000; // a writer that waits here still never lets the queue run dry
// Connections report every 100 ms, a carrier with long pieces every 200: who is silent for longer has stopped playing.
const REPORT_MAX_MS = 250;

export function createAudioOutput(options: AudioOutputOptions): AudioOutputSink {
  const { sampleRateHz } = options;
  const nowMs = options.nowMs ?? (() => performance.now());
  const maxSamples = samplesIn(options.maxQueuedMs, sampleRateHz);
  const enoughSamples = Math.min(samplesIn(ENOUGH_QUEUED_MS, sampleRateHz), maxSamples);
  const listeners = { started: new Set<() => void>(), stopped: new Set<() => void>() };
  let waiting: { reached(): boolean; settle(): void }[] = [];
  let resampler: { fromHz: number; run: Resampler } | undefined;
  let generation = 0;
  // Samples of this generation. What is counted for the bot begins at `utteranceStart`.
  let written = 0;
  let played = 0;
  let utteranceStart = 0;
  let utteranceIsOver = false; // the bot knows that all of it was heard: what it writes next is another one
  // Between two reports time tells how far it has got.
  let runningSinceMs: number | undefined;
  let heardAtLeast = 0;
  let cutAt: number | undefined;
  let droppedSamples = 0;
  let isPaused = false;
  let ended = false;

  function heard(): number {
    const sinceMs = runningSinceMs === undefined ? 0 : Math.min(nowMs() - runningSinceMs, REPORT_MAX_MS);
    return Math.min(written, Math.max(heardAtLeast, played + samplesIn(sinceMs, sampleRateHz)));
  }

  function setRunning(running: boolean): void {
    heardAtLeast = heard();
    runningSinceMs = running ? nowMs() : undefined;
  }

  function playback(place: { start: number; heard: number; target: number }): Playback {
    const playedSamples = Math.max(0, Math.min(place.heard, place.target) - place.start);
    return { playedMs: (playedSamples * 1000) / sampleRateHz, interrupted: place.heard < place.target };
  }

  function settle(): void {
    const reached = waiting.filter((waiter) => ended || waiter.reached());
    if (reached.length === 0) return;
    waiting = waiting.filter((waiter) => !reached.includes(waiter));
    for (const waiter of reached) waiter.settle();
  }

  function until<T>(reached: () => boolean, result: () => T, wait: WaitOptions | undefined): Promise<T> {
    if (ended || reached()) return Promise.resolve(result());
    const { promise, resolve } = Promise.withResolvers<T>();
    const waiter = { reached, settle: () => resolve(result()) };
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

  function drop(samples: number, why: string): void {
    if (samples <= 0) return;
    droppedSamples += samples;
    options.dropped?.((samples * 1000) / sampleRateHz, why);
  }

  function setPaused(paused: boolean): void {
    if (ended || isPaused === paused) return;
    isPaused = paused;
    if (paused) setRunning(false);
    options.pause(paused, heard());
  }

  /** Forgets what is queued and gives its waiters the place where it was cut. */
  function cut(place: number): void {
    cutAt = place;
    generation += 1;
    settle();
    cutAt = undefined;
    written = 0;
    played = 0;
    heardAtLeast = 0;
    runningSinceMs = undefined;
    isPaused = false;
    options.clear(generation);
    settle();
  }

  const output: AudioOutput = {
    sampleRateHz,
    get queuedMs() {
      return ((written - played) * 1000) / sampleRateHz;
    },
    get playedMs() {
      return ((heard() - utteranceStart) * 1000) / sampleRateHz;
    },
    get droppedMs() {
      return (droppedSamples * 1000) / sampleRateHz;
    },
    get isPaused() {
      return isPaused;
    },
    write(frame) {
      if (ended) return false;
      if (utteranceIsOver) utteranceStart = written;
      utteranceIsOver = false;
      const samples = toOutputRate(frame);
      const space = Math.max(0, maxSamples - (written - played));
      // A copy of exactly this: the frame stays the bot's, and what crosses to another thread takes along the
      // whole memory behind it.
      const accepted = samples.slice(0, space);
      drop(samples.length - accepted.length, "more was written than audioOut.maxQueuedMs allows");
      written += accepted.length;
      if (accepted.length > 0) options.play(accepted);
      return written - played < enoughSamples;
    },
    ready: (wait) =>
      until(
        () => written - played < enoughSamples,
        () => undefined,
        wait,
      ),
    clear() {
      const place = heard();
      const state = playback({ start: utteranceStart, heard: place, target: written });
      resampler = undefined;
      if (!ended && written !== played) cut(place);
      else setPaused(false); // there is nothing that anybody would notice
      utteranceStart = written;
      utteranceIsOver = false;
      return state;
    },
    pause: () => setPaused(true),
    resume: () => setPaused(false),
    drained(wait) {
      const target = written;
      const since = generation;
      const start = utteranceStart;
      return until(
        () => generation !== since || played >= target,
        () => {
          if (generation === since && target === written && played >= target) utteranceIsOver = true;
          return playback({ start, heard: cutAt ?? heard(), target });
        },
        wait,
      );
    },
    on: (event, listener) => void listeners[event].add(listener),
    off: (event, listener) => void listeners[event].delete(listener),
  };
  return {
    output,
    played(ofGeneration, samples) {
      if (ofGeneration !== generation) return; // from before the last clear
      played = samples;
      if (runningSinceMs !== undefined) runningSinceMs = nowMs();
      settle();
    },
    speaking(speaking) {
      setRunning(speaking);
      if (!speaking && played === written) resampler = undefined; // its end has missed its time
      for (const listener of listeners[speaking ? "started" : "stopped"]) listener();
    },
    giveUp: () => drop(written - heard(), "the bot's last words took longer than audioOut.lastWordsMs"),
    end() {
      if (ended) return;
      ended = true;
      setRunning(false);
      settle();
    },
  };
}
