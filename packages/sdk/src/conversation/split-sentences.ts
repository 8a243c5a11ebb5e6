import { segmentsOf } from "../speech/segmenters.ts";

/** Splits text into sentences while it is being generated, so that the first can be spoken early. */
export interface SentenceSplitter {
  /** Adds text and returns the sentences that are now complete. */
  push(text: string): string[];
  /** Returns the rest after the end of the text. */
  flush(): string[];
}

export interface SentenceSplitterOptions {
  /** Longer sentences are split, between clauses where possible. @default 240 */
  maxCharacters?: number;
}

export function createSentenceSplitter(options: SentenceSplitterOptions = {}): SentenceSplitter {
  const maxCharacters = options.maxCharacters ?? 240;
  let text = "";

  function take(isOver: boolean): string[] {
    const found = joinFragments([...segmentsOf(text, "sentence")].map(({ segment }) => segment));
    // The last sentence may continue: "3." is followed by "14", "Dr." by a name.
    text = isOver ? "" : (found.pop() ?? "");
    const long = text.length > maxCharacters ? cut(text, maxCharacters) : [];
    if (long.length > 0) text = long.pop()!;
    return [...found, ...long]
      .flatMap((sentence) => (sentence.length > maxCharacters ? cut(sentence, maxCharacters) : [sentence]))
      .map((sentence) => sentence.trim())
      .filter((sentence) => sentence !== "");
  }

  return {
    push(piece) {
      text += piece;
      return take(false);
    },
    flush: () => take(true),
  };
}

// Unicode's rules know sentence ends in every script, but not the abbreviations of a language.
const ABBREVIATION =
  /(?:^|[\s(])(?:\p{L}|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|approx|e\.g|i\.e|bzw|ca|Nr|Hr|Fr|Sra?|Mme|Mlle)\.\s*$/u;
const NUMBER_ABBREVIATION = /(?:^|\s)(?:No|Nos|p|pp|art|n[º°])\.\s*$/i; // "No." alone is an answer
const HAS_WORD = /\p{L}|\p{N}/u;
const ONLY_NUMBERED = /^\s*(?:[-*•+]\s*)?[(\d]*\d{1,3}[.)]\s*$/; // "1. " begins an item of a list

function joinFragments(segments: readonly string[]): string[] {
  const joined: string[] = [];
  for (let next of segments) {
    let before = joined.pop();
    if (before !== undefined) {
      const opening = OPENING.exec(before)?.[0] ?? "";
      const closing = CLOSING_MARKUP.exec(next)?.[0] ?? "";
      before = before.slice(0, before.length - opening.length) + closing;
      next = opening + next.slice(closing.length);
      if (!belongsTogether(before, next)) joined.push(before);
      else next = before + next;
    }
    joined.push(next);
  }
  return joined;
}

const OPENING = /[「『（《“‘([{]\s*$/u;
const CLOSING_MARKUP = /^[*_~`]+(?=\s|$)/;

function belongsTogether(before: string, next: string): boolean {
  if (!HAS_WORD.test(next)) return true; // spaces, closing marks, emoticons
  if (!HAS_WORD.test(before)) return !before.includes("\n");
  if (/\n\s*$/.test(before)) return false;
  if (ABBREVIATION.test(before) || ONLY_NUMBERED.test(before)) return true;
  return NUMBER_ABBREVIATION.test(before) && /^\s*\d/.test(next);
}

/** Splits a text into pieces of at most this length; the last may still grow. */
function cut(text: string, maxCharacters: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > maxCharacters) {
    const at = clauseEnd(rest.slice(0, maxCharacters)) ?? wordEnd(rest, maxCharacters);
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  return [...pieces, rest];
}

function clauseEnd(text: string): number | undefined {
  const ends = [...text.matchAll(/[,;:](?=\s)\s*|[，、；：]|\s[–—]\s/g)];
  const last = ends.at(-1);
  return last && last.index > text.length / 4 ? last.index + last[0].length : undefined;
}

function wordEnd(text: string, maxCharacters: number): number {
  let end = 0;
  for (const { index } of segmentsOf(text, "word")) {
    if (index > maxCharacters) break;
    end = index;
  }
  return end > 0 ? end : maxCharacters;
}
