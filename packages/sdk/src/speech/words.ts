import { segmentsOf } from "./segmenters.ts";

/** A word and when it is heard, in milliseconds since the beginning of its utterance. */
export interface TimedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Returns the words that were completely heard after this much playback. */
export function heardWords<W extends Pick<TimedWord, "endMs">>(words: readonly W[], playedMs: number): W[] {
  return words.filter(({ endMs }) => endMs <= playedMs + TOLERANCE_MS);
}

/**
 * Spreads the words of a text over its length, for voices without word times. The texts joined are the whole text,
 * so joining the first ones gives its beginning.
 */
export function timeWords(text: string, durationMs: number): TimedWord[] {
  const pieces: string[] = [];
  for (const { segment, isWordLike } of segmentsOf(text, "word"))
    // Spaces and punctuation belong to the word before them.
    if (isWordLike || pieces.length === 0) pieces.push(segment);
    else pieces[pieces.length - 1] += segment;
  let characters = 0;
  const placeMs = (): number => (text.length === 0 ? 0 : (characters / text.length) * durationMs);
  return pieces.map((piece) => {
    const startMs = placeMs();
    characters += piece.length;
    return { text: piece, startMs, endMs: placeMs() };
  });
}

const TOLERANCE_MS = 20; // playback is reported in pieces, and the end of a word is quiet
