import { heardWords, timeWords } from "vocalhost";

/** Text on its way to somebody's ear. */
export interface Speech {
  text: string;
  /** When each piece of the text ends, from a voice that says so. */
  words: { text: string; endMs: number }[];
  /** Length of its sound so far. */
  soundMs: number;
  isSoundComplete: boolean;
}

const USUAL_MS_PER_CHARACTER = 65;

/** The beginning of the text that was heard when so much of its sound was. */
export function heardText(speech: Speech, playedMs: number): string {
  if (playedMs <= 0) return "";
  const { text, words } = speech;
  const timed = words.length > 0 ? words : timeWords(text, lengthOf(speech));
  const heard = heardWords(timed, playedMs)
    .map((word) => word.text)
    .join("");
  return text.slice(0, heard.length);
}

/** Of speech that is still being made: as people speak. */
function lengthOf({ text, soundMs, isSoundComplete }: Speech): number {
  return isSoundComplete ? soundMs : Math.max(soundMs, text.length * USUAL_MS_PER_CHARACTER);
}
