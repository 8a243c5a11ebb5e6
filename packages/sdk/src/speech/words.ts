import { segmentsOf } from "./segmenters.ts";

/** A word and when it is heard, counted from where its utterance begins. */
export interface TimedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** The words that had been heard to the end when so much was played. */
export function heardWords<W extends Pick<TimedWord, "endMs">>(words: readonly W[], playedMs: number): W[] {
  return words.filter(({ endMs }) => endMs <= playedMs + TOLERANCE_MS);
}

/**
 * For voices that do not say when each word is spoken: spreads the words of a text over its length, by their own.
 * The texts together are the whole text, so joining some of them gives its beginning.
 */
export function timeWords(text: string, durationMs: number): TimedWord[] {
  const pieces: string[] = [];
  for (const { segment, isWordLike } of segmentsOf(text, "word"))
    // What is no word, spaces and points above all, belongs to the word before it.
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

const TOLERANCE_MS = 20; // what was heard is known to a piece of audio, and a word's last sound is its quietest
