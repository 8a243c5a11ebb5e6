import { FRAME_MS, rmsLevel, samplesIn } from "@vocalhost/audio";

/** Finds where one side of a call talks, by loudness alone. Feed it one side's sound without gaps. */
export function createVoiceMeter(options: VoiceMeterOptions): VoiceMeter {
  const windowSamples = samplesIn(FRAME_MS, options.sampleRateHz);
  const utterances: Utterance[] = [];
  let current: Utterance | undefined;
  let loudMs = 0;
  let hearingMs = 0;

  function listen(window: Int16Array): void {
    const startMs = hearingMs;
    hearingMs += (window.length * 1000) / options.sampleRateHz;
    if (rmsLevel(window) < AUDIBLE_LEVEL) {
      if (current && hearingMs - current.endMs >= PAUSE_MS) finish();
      return;
    }
    loudMs += hearingMs - startMs;
    if (current) {
      current.endMs = hearingMs;
      return;
    }
    current = { startMs, endMs: hearingMs };
    utterances.push(current);
    options.onStart?.(startMs);
  }

  function finish(): void {
    if (!current) return;
    options.onEnd?.(current.endMs);
    current = undefined;
  }

  return {
    utterances,
    hear(samples) {
      for (let at = 0; at < samples.length; at += windowSamples)
        listen(samples.subarray(at, at + windowSamples));
    },
    finish,
    get talkingSinceMs() {
      return current?.startMs;
    },
    get lastLoudMs() {
      return utterances.at(-1)?.endMs;
    },
    get loudMs() {
      return loudMs;
    },
  };
}

export interface VoiceMeterOptions {
  sampleRateHz: number;
  onStart?: (atMs: number) => void;
  /** Comes when a pause has shown that it was the end; `atMs` is when the sound ended. */
  onEnd?: (atMs: number) => void;
}

export interface VoiceMeter {
  /** The last one may still be growing. */
  readonly utterances: readonly Utterance[];
  hear(samples: Int16Array): void;
  /** Ends an utterance that is still going on. */
  finish(): void;
  readonly talkingSinceMs: number | undefined;
  readonly lastLoudMs: number | undefined;
  /** How much of what was heard so far is audible. */
  readonly loudMs: number;
}

/** A stretch of talk; shorter silences than a pause are part of it. */
export interface Utterance {
  startMs: number;
  endMs: number;
}

const AUDIBLE_LEVEL = 0.01; // -40 dB: above the noise of a quiet line, below soft speech
const PAUSE_MS = 400; // longer than the gaps inside a sentence
