import { rmsLevel, samplesIn } from "@vocalhost/audio";
import type { CallerVoice } from "@vocalhost/simulator";
import { toLevel } from "../voice/loudness.ts";

/** The user as the caller: what the microphone gives unevenly is asked for evenly, and never stays behind. */
export function createMicrophoneVoice({ sampleRateHz }: { sampleRateHz: number }): MicrophoneVoice {
  const cushion = samplesIn(CUSHION_MS, sampleRateHz);
  const behindMax = samplesIn(BEHIND_MAX_MS, sampleRateHz);
  const waitingMax = samplesIn(WAITING_MAX_MS, sampleRateHz);
  const watched = samplesIn(WATCH_MS, sampleRateHz);
  let waiting = new Int16Array(0);
  let isFilling = true;
  let least = Infinity; // that waited at any time since it was last looked at
  let asked = 0;

  /** A busy page asks in bursts; only what is never needed makes the voice late. */
  function catchUp(count: number): void {
    least = Math.min(least, waiting.length);
    asked += count;
    if (asked < watched) return;
    if (least > behindMax) waiting = waiting.slice(least - cushion);
    least = Infinity;
    asked = 0;
  }

  return {
    sampleRateHz,
    isFinished: false,
    hear(samples) {
      const all = new Int16Array(waiting.length + samples.length);
      all.set(waiting);
      all.set(samples, waiting.length);
      waiting = all.slice(-waitingMax);
    },
    next(count) {
      const sound = new Int16Array(count);
      // A late microphone gets a head start again, or it would stutter from now on.
      if (isFilling && waiting.length < count + cushion) return sound;
      isFilling = waiting.length < count;
      sound.set(waiting.subarray(0, count));
      waiting = waiting.slice(count);
      catchUp(count);
      return sound;
    },
    mute() {
      waiting = new Int16Array(0);
      isFilling = true;
    },
  };
}

export interface MicrophoneVoice extends CallerVoice {
  hear(samples: Int16Array): void;
  /** Forgets what has not been sent. */
  mute(): void;
}

const CUSHION_MS = 30; // unevenness of the two clocks and of a busy page
const BEHIND_MAX_MS = 150; // more delay than this is felt in a conversation
const WATCH_MS = 1000;
const WAITING_MAX_MS = 5000; // a page that sleeps longer has lost its call anyway

/** How loud a recording is over its length, in so many steps; each from 0 to 1. */
export function toBars(samples: Int16Array, count: number): number[] {
  const step = samples.length / count;
  return Array.from({ length: count }, (_, bar) =>
    toLevel(rmsLevel(samples.subarray(Math.floor(bar * step), Math.floor((bar + 1) * step)))),
  );
}
