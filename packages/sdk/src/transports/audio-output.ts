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
  // Samples of this generation. What is counted for the bot begins at `utteranceStart`.
  #written = 0;
  #played = 0;
  #utteranceStart = 0;
  #utteranceIsOver = false; // the bot knows that all of it was heard: what it writes next is another one
  // Between two reports time tells how far it has got.
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
    // A copy of exactly this: the frame stays the bot's, and what crosses to another thread takes along the
    // whole memory behind it.
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
    else this.#setPaused(false); // there is nothing that anybody would notice
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

  /** Forgets what is queued and gives its waiters the place where it was cut. */
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
    if (ofGeneration !== this.#generation) return; // from before the last clear
    this.#played = samples;
    if (this.#runningSinceMs !== undefined) this.#runningSinceMs = this.#nowMs();
    this.#settle();
  }

  reportSpeaking(speaking: boolean): void {
    this.#setRunning(speaking);
    if (!speaking && this.#played === this.#written) this.#resampler = undefined; // its end has missed its time
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
