import { samplesIn, type AudioFrame } from "@vocalhost/audio";
import { withTimeouts } from "./timeouts.ts";
import { isAudio, type TextToSpeech } from "./services.ts";

/** The words or tones a caller hears while a service is failing. */
export interface Apology {
  /** Has the voice speak the apology ahead of time, so that it can be played when the voice fails too. */
  prepare(): Promise<void>;
  /**
   * Returns the words, once until `reset`; undefined when there are none, they were said, or there is no way to
   * say them.
   */
  words(can: { speak: boolean }): { text: string; sound: readonly AudioFrame[] | undefined } | undefined;
  /** Two short tones that tell the caller something is wrong and the line is not dead. */
  readonly tones: AudioFrame;
  /** Allows the apology to be said once more; called when the caller has spoken. */
  reset(): void;
}

export interface ApologyOptions {
  text: string | undefined;
  tts: TextToSpeech | undefined;
  toSpeech(text: string): string;
  limitMs: number;
  signal: AbortSignal;
}

export function createApology(options: ApologyOptions): Apology {
  const { text, tts } = options;
  let sound: AudioFrame[] | undefined;
  let wasSaid = false;
  return {
    async prepare() {
      if (text === undefined || !tts || sound) return;
      const made: AudioFrame[] = [];
      const speak = (signal: AbortSignal) => tts.speak(options.toSpeech(text), { signal, previousText: "" });
      for await (const piece of withTimeouts(speak, options)) if (isAudio(piece)) made.push(piece);
      if (made.length > 0) sound = made;
    },
    words({ speak }) {
      if (text === undefined || wasSaid || !(sound || speak)) return undefined;
      wasSaid = true;
      return { text, sound };
    },
    tones: twoTones(),
    reset: () => void (wasSaid = false),
  };
}

const RATE_HZ = 24_000;
const TONE_HZ = 440;
const TONE_MS = 150;
const LEVEL = 3_000; // -20 dBFS: audible, and not startling after silence

function twoTones(): AudioFrame {
  const length = samplesIn(TONE_MS, RATE_HZ);
  const samples = new Int16Array(3 * length);
  for (let at = 0; at < length; at += 1) {
    const fade = Math.min(1, at / 240, (length - at) / 240);
    const sample = Math.round(fade * LEVEL * Math.sin((2 * Math.PI * TONE_HZ * at) / RATE_HZ));
    samples[at] = sample;
    samples[2 * length + at] = sample;
  }
  return { samples, sampleRateHz: RATE_HZ };
}
