import { createResampler, samplesIn, type AudioFrame, type Resampler } from "@vocalhost/audio";
import type { AudioOutput, Playback, WaitOptions } from "./transport.ts";
import { waitFor } from "./wait-for.ts";

/** The bot's audio output, and the functions through which the transport reports progress. */
export interface AudioOutputSink {
  readonly output: AudioOutput;
  /** Reports the samples of this generation that have been played. */
  played(generation: number, samples: number): void;
  speaking(speaking: boolean): void;
  /** Drops the queued audio and counts it. */
  giveUp(): void;
  end(): void;
}

export interface AudioOutputOptions {
  sampleRateHz: number;
  maxQueuedMs: number;
  /** Plays samples. Their buffer belongs to the callee and holds nothing else. */
  play(samples: Int16Array): void;
  /** Drops queued audio and begins a new generation. Ends a pause. */
  clear(generation: number): void;
  /** Pauses or resumes playback; queued audio is kept. `heardSamples` counts in this generation. */
  pause(paused: boolean, heardSamples: number): void;
  /** Called when audio was dropped. */
  dropped?(ms: number, why: string): void;
  /** @default performance.now */
  nowMs?: () => number;
}

const ENOUGH_QUEUED_MS = 2_000; // a writer that waits at this level never lets the queue run dry
// Progress is reported every 100 ms, by carriers with long chunks every 200 ms. A longer silence means that
// playback has stopped.
const REPORT_MAX_MS = 250;

export function createAudioOutput(options: AudioOutputOptions): AudioOutputSink {
  const output = new QueuedOutput(options);
  return {
    output,
    played: (generation, samples) => output.reportPlayed(generation, samples),
    speaking: (speaking) => output.reportSpeaking(speaking),
    giveUp: () => output.giveUp(),
    end: () => output.end(),
  };
}

class QueuedOutput implements AudioOutput {
  readonly #options: AudioOutputOptions;
  readonly #nowMs: () => number;
  readonly #maxSamples: number;
  readonly #enoughSamples: number;
  readonly #listeners = { started: new Set<() => void>(), stopped: new Set<() => void>() };
  #waiting: { reached(): boolean; settle(): void }[] = [];
  #resampler: { fromHz: number; run: Resampler } | undefined;
  #generation = 0;
  // Samples of this generation. Figures for the bot count from `utteranceStart`.
  #written = 0;
  #played = 0;
  #utteranceStart = 0;
  #utteranceIsOver = false; // the bot knows that all of it was heard, so the next write begins another
  // Playback progress is interpolated between two reports.
  #runningSinceMs: number | undefined;
  #heardAtLeast = 0;
  #cutAt: number | undefined;
  #droppedSamples = 0;
  #isPaused = false;
  #ended = false;
  readonly sampleRateHz: number;

  constructor(options: AudioOutputOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#maxSamples = samplesIn(options.maxQueuedMs, options.sampleRateHz);
    this.#enoughSamples = Math.min(samplesIn(ENOUGH_QUEUED_MS, options.sampleRateHz), this.#maxSamples);
    this.sampleRateHz = options.sampleRateHz;
  }

  get queuedMs(): number {
    return ((this.#written - this.#played) * 1000) / this.#options.sampleRateHz;
  }

  get playedMs(): number {
    return ((this.#heard() - this.#utteranceStart) * 1000) / this.#options.sampleRateHz;
  }

  get droppedMs(): number {
    return (this.#droppedSamples * 1000) / this.#options.sampleRateHz;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  readonly write: AudioOutput["write"] = (frame) => {
    if (this.#ended) return false;
    if (this.#utteranceIsOver) this.#utteranceStart = this.#written;
    this.#utteranceIsOver = false;
    const samples = this.#toOutputRate(frame);
    const space = Math.max(0, this.#maxSamples - (this.#written - this.#played));
    // An exact copy: the frame stays the bot's, and a transfer to another thread copies the whole buffer behind a
    // view.
    const accepted = samples.slice(0, space);
    this.#drop(samples.length - accepted.length, "more was written than audioOut.maxQueuedMs allows");
    this.#written += accepted.length;
    if (accepted.length > 0) this.#options.play(accepted);
    return this.#written - this.#played < this.#enoughSamples;
  };

  readonly ready: AudioOutput["ready"] = (wait) =>
    this.#until(
      () => this.#written - this.#played < this.#enoughSamples,
      () => undefined,
      wait,
    );

  readonly clear: AudioOutput["clear"] = () => {
    const place = this.#heard();
    const state = this.#playback({ start: this.#utteranceStart, heard: place, target: this.#written });
    this.#resampler = undefined;
    if (!this.#ended && this.#written !== this.#played) this.#cut(place);
    else this.#setPaused(false); // nothing is audible, so there is nothing to cut
    this.#utteranceStart = this.#written;
    this.#utteranceIsOver = false;
    return state;
  };

  readonly pause: AudioOutput["pause"] = () => this.#setPaused(true);

  readonly resume: AudioOutput["resume"] = () => this.#setPaused(false);

  readonly drained: AudioOutput["drained"] = (wait) => {
    const target = this.#written;
    const since = this.#generation;
    const start = this.#utteranceStart;
    return this.#until(
      () => this.#generation !== since || this.#played >= target,
      () => {
        if (this.#generation === since && target === this.#written && this.#played >= target)
          this.#utteranceIsOver = true;
        return this.#playback({ start, heard: this.#cutAt ?? this.#heard(), target });
      },
      wait,
    );
  };

  readonly on: AudioOutput["on"] = (event, listener) => void this.#listeners[event].add(listener);

  readonly off: AudioOutput["off"] = (event, listener) => void this.#listeners[event].delete(listener);

  #heard(): number {
    const sinceMs =
      this.#runningSinceMs === undefined ? 0 : Math.min(this.#nowMs() - this.#runningSinceMs, REPORT_MAX_MS);
    return Math.min(
      this.#written,
      Math.max(this.#heardAtLeast, this.#played + samplesIn(sinceMs, this.#options.sampleRateHz)),
    );
  }

  #setRunning(running: boolean): void {
    this.#heardAtLeast = this.#heard();
    this.#runningSinceMs = running ? this.#nowMs() : undefined;
  }

  #playback(place: { start: number; heard: number; target: number }): Playback {
    const playedSamples = Math.max(0, Math.min(place.heard, place.target) - place.start);
    return {
      playedMs: (playedSamples * 1000) / this.#options.sampleRateHz,
      interrupted: place.heard < place.target,
    };
  }

  #settle(): void {
    const reached = this.#waiting.filter((waiter) => this.#ended || waiter.reached());
    if (reached.length === 0) return;
    this.#waiting = this.#waiting.filter((waiter) => !reached.includes(waiter));
    for (const waiter of reached) waiter.settle();
  }

  #until<T>(reached: () => boolean, result: () => T, wait: WaitOptions | undefined): Promise<T> {
    if (this.#ended || reached()) return Promise.resolve(result());
    const { promise, resolve } = Promise.withResolvers<T>();
    const waiter = { reached, settle: () => resolve(result()) };
    this.#waiting.push(waiter);
    const forget = (): void => {
      this.#waiting = this.#waiting.filter((other) => other !== waiter);
    };
    return waitFor(promise, { ...wait, what: "the audio queue", onGiveUp: forget });
  }

  #toOutputRate(frame: AudioFrame): Int16Array {
    if (frame.sampleRateHz === this.#options.sampleRateHz) return frame.samples;
    if (this.#resampler?.fromHz !== frame.sampleRateHz)
      this.#resampler = {
        fromHz: frame.sampleRateHz,
        run: createResampler({ fromHz: frame.sampleRateHz, toHz: this.#options.sampleRateHz }),
      };
    return this.#resampler.run.process(frame.samples);
  }

  #drop(samples: number, why: string): void {
    if (samples <= 0) return;
    this.#droppedSamples += samples;
    this.#options.dropped?.((samples * 1000) / this.#options.sampleRateHz, why);
  }

  #setPaused(paused: boolean): void {
    if (this.#ended || this.#isPaused === paused) return;
    this.#isPaused = paused;
    if (paused) this.#setRunning(false);
    this.#options.pause(paused, this.#heard());
  }

  /** Drops queued audio and tells waiters where it was cut. */
  #cut(place: number): void {
    this.#cutAt = place;
    this.#generation += 1;
    this.#settle();
    this.#cutAt = undefined;
    this.#written = 0;
    this.#played = 0;
    this.#heardAtLeast = 0;
    this.#runningSinceMs = undefined;
    this.#isPaused = false;
    this.#options.clear(this.#generation);
    this.#settle();
  }

  reportPlayed(ofGeneration: number, samples: number): void {
    if (ofGeneration !== this.#generation) return; // reported before the last clear
    this.#played = samples;
    if (this.#runningSinceMs !== undefined) this.#runningSinceMs = this.#nowMs();
    this.#settle();
  }

  reportSpeaking(speaking: boolean): void {
    this.#setRunning(speaking);
    if (!speaking && this.#played === this.#written) this.#resampler = undefined; // the rest of the resampler's input came too late
    for (const listener of this.#listeners[speaking ? "started" : "stopped"]) listener();
  }

  giveUp(): void {
    this.#drop(this.#written - this.#heard(), "the bot's last words took longer than audioOut.lastWordsMs");
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#setRunning(false);
    this.#settle();
  }
}
