import { meaningfulWords } from "../speech/back-channels.ts";

export interface InterruptionOptions {
  /** Speech shorter than this interrupts nothing. @default 200 */
  minSpeechMs?: number;
  /** Words that are no back-channels, to be an interruption. @default 1 */
  minWords?: number;
  /** So much speech is one even if its words are not known yet. @default 1000 */
  certainMs?: number;
  /** What a listener says to mean "go on"; these words alone interrupt nothing. @default `backChannels` */
  backChannels?: readonly string[];
}

export type BargeIn = "interrupts" | "goes-on" | "not-yet-known";

export interface BargeInSpeech {
  text: string;
  speechMs: number;
  /** The speaker has stopped, and the text is all there is. */
  isPause: boolean;
}

/** Whether somebody who speaks while the bot does wants it to stop. Its voice is held back until this is known. */
export function judgeBargeIn(speech: BargeInSpeech, options: InterruptionOptions): BargeIn {
  const { minSpeechMs = 200, minWords = 1, certainMs = 1_000 } = options;
  const words = meaningfulWords(speech.text, options.backChannels);
  const isLongEnough = speech.speechMs >= minSpeechMs;
  if (isLongEnough && words >= minWords) return "interrupts";
  if (speech.isPause) return "goes-on";
  return speech.text === "" && speech.speechMs >= certainMs ? "interrupts" : "not-yet-known";
}
