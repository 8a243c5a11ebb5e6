import { rmsLevel } from "@vocalhost/audio";
import type { AudioOutput } from "./transport.ts";

/** Watches how loud both sides are. */
export interface AudioLevels {
  /** Listens to what the user says on its way to the bot. */
  heard(push: PushSamples): PushSamples;
  /** What the bot has written; it counts when it is played. */
  bot(samples: Int16Array, sampleRateHz: number): void;
  end(): void;
}

type PushSamples = (samples: Int16Array, sampleRateHz: number) => void;

const EVERY_MS = 150;
const PIECE_MS = 50;
const PIECES_MAX = 2_000; // 100 s, more than can be queued unless somebody asked for it

/** Tells it every 150 ms while there is something to hear, and once that there is not. */
export function tellLevels(
  audioOut: AudioOutput,
  tell: (type: "user-audio-level" | "bot-audio-level", value: number) => void,
): AudioLevels {
  let user = 0;
  let pieces: { untilMs: number; level: number }[] = []; // of the bot's utterance, as it will be played
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
