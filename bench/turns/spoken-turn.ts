import { samplesIn } from "@vocalhost/audio";
import { partsOf } from "./script.ts";
import { RATE_HZ, type Voice } from "./voices.ts";

/** A turn as it is heard, and what is known about it. */
export interface SpokenTurn {
  samples: Int16Array;
  /** When the last sound of the last word is over. */
  lastWordMs: number;
  /** Everything that had been said by then, as a careful transcriber writes it. */
  textAt(ms: number): string;
}

export const TAIL_MS = 4_000; // silence afterwards; who has not been answered by then is not
const LEAD_MS = 600;
const SHORTEST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 1_100;
const USER_DBFS = -20;
const FLOOR = 18; // about −65 dBFS of noise: no line is without

/** Says a turn of the script, with pauses of the given randomness. */
export function speakTurn(turn: string, voice: Voice, random: () => number): SpokenTurn {
  const parts = partsOf(turn).map((part) => ({ ...part, samples: voice.say(part.text) }));
  const pieces: Int16Array[] = [new Int16Array(samplesIn(LEAD_MS, RATE_HZ))];
  const said: { text: string; fromMs: number }[] = [];
  let lengthMs = LEAD_MS;
  let lastWordMs = 0;
  for (const { text, isLast, samples } of parts) {
    said.push({ text, fromMs: lengthMs });
    pieces.push(samples);
    lengthMs += (samples.length * 1000) / RATE_HZ;
    lastWordMs = lengthMs;
    const pauseMs = isLast
      ? TAIL_MS
      : Math.round(SHORTEST_PAUSE_MS + random() * (LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS));
    pieces.push(new Int16Array(samplesIn(pauseMs, RATE_HZ)));
    lengthMs += pauseMs;
  }
  return {
    samples: onLine(joined(pieces), random),
    lastWordMs,
    textAt: (ms) =>
      said
        .filter(({ fromMs }) => fromMs < ms)
        .map(({ text }) => text)
        .join(" "),
  };
}

function joined(pieces: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** As loud as people are on a line, with its noise. */
function onLine(samples: Int16Array, random: () => number): Int16Array {
  const spoken = samples.filter((sample) => sample !== 0);
  const gain = gainTo(spoken, USER_DBFS);
  return samples.map((sample) => clipped(sample * gain + (random() * 2 - 1) * FLOOR * Math.sqrt(3)));
}

export function gainTo(samples: Int16Array, dbfs: number): number {
  const power = samples.reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0) / samples.length;
  return 10 ** (dbfs / 20) / Math.sqrt(power);
}

export function clipped(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
