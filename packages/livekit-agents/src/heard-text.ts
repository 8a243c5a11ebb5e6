import { heardWords, timeWords, type TimedWord } from "vocalhost";

/** Text that is being spoken. */
export interface Speech {
  text: string;
  /** The same text in pieces, as they were written. */
  pieces: TextPiece[];
  /** Length of its sound so far. */
  soundMs: number;
  isSoundComplete: boolean;
}

/** A word or more, and when it is spoken, if the voice reports it. */
export interface TextPiece {
  text: string;
  startMs?: number | undefined;
  endMs?: number | undefined;
}

const USUAL_MS_PER_CHARACTER = 65;

/** Returns the beginning of the text that was heard after this much playback. */
export function heardText(speech: Speech, playedMs: number): string {
  if (playedMs <= 0) return "";
  const heard = heardWords(wordsOf(speech), playedMs);
  return speech.text.slice(
    0,
    heard.reduce((length, word) => length + word.text.length, 0),
  );
}

function wordsOf(speech: Speech): TimedWord[] {
  const words: TimedWord[] = [];
  const pieces = withoutSeams(speech.pieces);
  for (const [at, piece] of pieces.entries()) {
    const startMs = piece.startMs ?? words.at(-1)?.endMs ?? 0;
    const endMs = piece.endMs ?? pieces[at + 1]?.startMs ?? endOfSound(speech, startMs, piece);
    for (const word of timeWords(piece.text, Math.max(0, endMs - startMs)))
      words.push({ text: word.text, startMs: startMs + word.startMs, endMs: startMs + word.endMs });
  }
  return words;
}

/** Models write pieces that ignore word boundaries; pieces without times are joined to the piece before. */
function withoutSeams(pieces: readonly TextPiece[]): TextPiece[] {
  const joined: TextPiece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last && piece.startMs === undefined && last.endMs === undefined) {
      last.text += piece.text;
      last.endMs = piece.endMs;
    } else joined.push({ ...piece });
  }
  return joined;
}

/** Estimates the length of unfinished speech from usual speaking rates. */
function endOfSound({ soundMs, isSoundComplete }: Speech, startMs: number, { text }: TextPiece): number {
  return isSoundComplete ? soundMs : Math.max(soundMs, startMs + text.length * USUAL_MS_PER_CHARACTER);
}
