import type { AudioFrame } from "@vocalhost/audio";

/**
 * Decides how long a silence must be until the user is taken to have finished. Implement it to use a model of your
 * own.
 */
export interface EndOfTurn {
  /** Called when a pause begins, while its text is still unknown, so that slow work can start. */
  paused?(pause: Omit<TurnPause, "text">): void;
  /**
   * Called at each pause once its text is known. Returns the silence that ends the turn, in milliseconds since the
   * last speech.
   */
  silenceMs(pause: TurnPause): number | Promise<number>;
  /** Called when the user continued after this much silence, in an open turn or one that was ended too early. */
  spokeOn?(silenceMs: number): void;
}

export interface TurnPause {
  /** Everything said in this turn so far. */
  text: string;
  /** Speech of the turn so far, without its pauses. */
  speechMs: number;
  /** The last seconds of the turn, for models that use sound. */
  audio: AudioFrame;
}

export interface AdaptiveSilenceOptions {
  /** Silence after a complete sentence, in milliseconds. @default 300 */
  completeMs?: number;
  /** Silence after words that may or may not be complete, in milliseconds. @default 700 */
  unsureMs?: number;
  /** Silence after a number, which people say in groups, in milliseconds. @default 900 */
  numberMs?: number;
  /** Silence after words that cannot be the last: "and", "um", a comma; in milliseconds. @default 1500 */
  incompleteMs?: number;
  /** Longest silence, in milliseconds. @default 2500 */
  maxMs?: number;
}

/** Waits as long as the last words and the user's own pauses suggest. */
export function adaptiveSilence(options: AdaptiveSilenceOptions = {}): EndOfTurn {
  const completeMs = options.completeMs ?? 300;
  const unsureMs = options.unsureMs ?? 700;
  const numberMs = options.numberMs ?? 900;
  const incompleteMs = options.incompleteMs ?? 1_500;
  const maxMs = options.maxMs ?? 2_500;
  const pausesMs: number[] = [];

  /** Returns extra time for a user who pauses longer than others within a turn. */
  function slownessMs(): number {
    if (pausesMs.length < PAUSES_TO_KNOW) return 0;
    const usual = pausesMs.toSorted((a, b) => a - b)[Math.floor(pausesMs.length * 0.8)] ?? 0;
    return Math.max(0, Math.min(usual - USUAL_PAUSE_MS, MOST_SLOWNESS_MS));
  }

  return {
    silenceMs({ text }) {
      const waits = { complete: completeMs, unsure: unsureMs, number: numberMs, incomplete: incompleteMs };
      const ending = endingOf(text);
      // A complete sentence gets little extra time, however slowly the user speaks.
      return Math.min(maxMs, waits[ending] + (ending === "complete" ? slownessMs() / 2 : slownessMs()));
    },
    spokeOn(silenceMs) {
      pausesMs.push(silenceMs);
      if (pausesMs.length > PAUSES_KEPT) pausesMs.shift();
    },
  };
}

/** Waits for the same silence after everything. */
export function fixedSilence(silenceMs: number): EndOfTurn {
  return { silenceMs: () => silenceMs };
}

export type Ending = "complete" | "unsure" | "number" | "incomplete";

/** Judges by its last words how finished a text sounds. */
export function endingOf(text: string): Ending {
  const trimmed = text.trim();
  if (trimmed === "") return "unsure";
  if (/(?:\.{2,}|…|[,;:，、；：–—-])["'”’)」』]*$/.test(trimmed)) return "incomplete";
  const ends = SENTENCE_END.test(trimmed);
  const words = trimmed
    .toLowerCase()
    .split(/[^\p{L}\p{N}']+/u)
    .filter((word) => word !== "");
  const last = words.at(-1) ?? "";
  // Transcribers put a full stop after everything, even after "I would like to and um."
  if (FILLERS.has(last) || (OPEN_WORDS.has(last) && !/[?!？！]["'”’)]*$/.test(trimmed))) return "incomplete";
  if (words.length > 1 && OPEN_PAIRS.has(words.slice(-2).join(" "))) return "incomplete";
  if (isNumber(last) && (!ends || isNumber(words.at(-2) ?? ""))) return "number";
  if (ends || WHOLE_ANSWERS.has(words.join(" "))) return "complete";
  return "unsure";
}

function isNumber(word: string): boolean {
  return /\p{N}$/u.test(word) || NUMBER_WORDS.has(word);
}

const SENTENCE_END = /[.!?。！？｡؟।]["'”’)」』]*$/;
const PAUSES_TO_KNOW = 3;
const PAUSES_KEPT = 20;
const USUAL_PAUSE_MS = 600;
const MOST_SLOWNESS_MS = 800;

const words = (list: string): Set<string> => new Set(list.split(/\s+/));
const phrases = (list: string): Set<string> => new Set(list.split(/\s*,\s*/));

// English, German, French, Spanish. Other languages are judged by punctuation alone.
const FILLERS = words(`um umm uh uhm uhh er erm hmm hm mm äh ähm öh tja euh heu bah eh este pues`);
const OPEN_WORDS =
  words(`and or but so because that which who if when while then than the a an my your our their of to
  for from with at in on by into about is are was were i'm i'd i'll it's like und oder aber weil dass wenn der die das
  ein eine einen mein meine zu für von mit bei im am ist et ou mais parce que le la les un une des mon ma de du pour avec
  y o pero porque el los las unos mi con por para es`);
const OPEN_PAIRS = phrases(
  "i want, i need, i think, i mean, you know, let me, ich möchte, ich will, je veux, me gustaría",
);
const NUMBER_WORDS =
  words(`zero oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen
  fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred null eins zwei
  drei vier fünf sechs sieben acht neun zehn deux trois quatre cinq sept huit neuf dix dos tres cuatro cinco seis siete
  ocho nueve diez double`);
const WHOLE_ANSWERS =
  phrases(`yes, yes please, no, no thanks, no thank you, sure, okay, ok, thanks, thank you, hello, hi,
  goodbye, bye, stop, ja, nein, danke, ja bitte, nein danke, hallo, oui, non, merci, sí, no gracias, gracias, hola`);
