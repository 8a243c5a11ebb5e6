import { samplesIn } from "@vocalhost/audio";
import type { CallerVoice } from "@vocalhost/simulator";

/** The user as the caller: what the microphone gives unevenly is asked for evenly, and never runs far behind. */
export function createMicrophoneVoice({ sampleRateHz }: { sampleRateHz: number }): MicrophoneVoice {
  const cushion = samplesIn(CUSHION_MS, sampleRateHz);
  const most = samplesIn(BEHIND_MAX_MS, sampleRateHz);
  let waiting = new Int16Array(0);
  let isFilling = true;

  return {
    sampleRateHz,
    isFinished: false,
    hear(samples) {
      const all = new Int16Array(waiting.length + samples.length);
      all.set(waiting);
      all.set(samples, waiting.length);
      waiting = all;
    },
    next(count) {
      const sound = new Int16Array(count);
      // A late microphone gets a head start again, or it would stutter from now on.
      if (isFilling && waiting.length < count + cushion) return sound;
      isFilling = waiting.length < count;
      if (waiting.length > count + most) waiting = waiting.slice(waiting.length - count - cushion);
      sound.set(waiting.subarray(0, count));
      waiting = waiting.slice(count);
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
const BEHIND_MAX_MS = 200; // more delay than this is felt in a conversation
