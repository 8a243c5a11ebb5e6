import { heardWords, timeWords, type TimedWord } from "vocalhost";

/** Text on its way to somebody's ear. */
export interface Speech {
  text: string;
  /** The same in pieces, as they were written. */
  pieces: TextPiece[];
  /** Length of its sound so far. */
  soundMs: number;
  isSoundComplete: boolean;
}

/** A word or more, and when it is spoken, as far as the voice says so. */
export interface TextPiece {
  text: string;
  startMs?: number | undefined;
  endMs?: number | undefined;
}

const USUAL_MS_PER_CHARACTER = 65;

/** The beginning of the text that was heard when so much of its sound was. */
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

/** Models write in pieces that say nothing about words; what has no times is one piece with what is before it. */
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

/** Of speech that is still being made: as people speak. */
function endOfSound({ soundMs, isSoundComplete }: Speech, startMs: number, { text }: TextPiece): number {
  return isSoundComplete ? soundMs : Math.max(soundMs, startMs + text.length * USUAL_MS_PER_CHARACTER);
}
