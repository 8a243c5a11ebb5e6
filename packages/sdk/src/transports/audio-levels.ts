import { rmsLevel } from "@vocalhost/audio";
import type { AudioOutput } from "./transport.ts";

/** Measures the volume of both sides. */
export interface AudioLevels {
  /** Wraps the function that takes the user's audio, to measure it on its way to the bot. */
  heard(push: PushSamples): PushSamples;
  /** Takes audio the bot has written; its level is reported when it is played. */
  bot(samples: Int16Array, sampleRateHz: number): void;
  end(): void;
}

type PushSamples = (samples: Int16Array, sampleRateHz: number) => void;

const EVERY_MS = 150;
const PIECE_MS = 50;
const PIECES_MAX = 2_000; // 100 s, more than fits in the queue by default

/** Reports levels every 150 ms while there is sound, and a final zero when it ends. */
export function tellLevels(
  audioOut: AudioOutput,
  tell: (type: "user-audio-level" | "bot-audio-level", value: number) => void,
): AudioLevels {
  let user = 0;
  let pieces: { untilMs: number; level: number }[] = []; // of the bot's utterance, in playback order
  const last = { "user-audio-level": 0, "bot-audio-level": 0 };

  function say(type: keyof typeof last, value: number): void {
    const rounded = Math.round(value * 1000) / 1000;
    if (rounded === 0 && last[type] === 0) return;
    last[type] = rounded;
    tell(type, rounded);
  }

  const timer = setInterval(() => {
    say("user-audio-level", user);
    user = 0;
    const { playedMs, queuedMs } = audioOut;
    while (pieces[0] && pieces[0].untilMs <= playedMs) pieces.shift();
    say("bot-audio-level", queuedMs > 0 ? (pieces[0]?.level ?? 0) : 0);
  }, EVERY_MS);
  timer.unref();

  return {
    heard: (push) => (samples, sampleRateHz) => {
      user = Math.max(user, rmsLevel(samples));
      push(samples, sampleRateHz);
    },
    bot(samples, sampleRateHz) {
      let untilMs = audioOut.playedMs + audioOut.queuedMs;
      if ((pieces.at(-1)?.untilMs ?? 0) > untilMs + PIECE_MS) pieces = []; // a new utterance counts from its own start
      const step = Math.round((PIECE_MS * sampleRateHz) / 1000);
      for (let at = 0; at < samples.length; at += step) {
        const piece = samples.subarray(at, at + step);
        untilMs += (piece.length / sampleRateHz) * 1000;
        pieces.push({ untilMs, level: rmsLevel(piece) });
      }
      if (pieces.length > PIECES_MAX) pieces.splice(0, pieces.length - PIECES_MAX);
    },
    end: () => clearInterval(timer),
  };
}
