import { frameMs, type AudioFrame } from "@vocalhost/audio";
import type { SpokenSegment } from "../rtvi/bot-output.ts";
import { heardWords, timeWords, type TimedWord } from "../speech/words.ts";
import type { Transport } from "../transports/transport.ts";
import { limitWaits } from "./limit-waits.ts";
import { ServiceFailure } from "./service-failure.ts";
import { isAudio, type SpokenWords, type TextToSpeech } from "./services.ts";
import { untilItWorks } from "./until-it-works.ts";

/** One stretch of the bot's speech, sentence after sentence, that knows how much of it was heard. */
export interface Utterance {
  /** Says this after what was added before. */
  add(sentence: string): Sentence;
  /** Plays this now, whatever is still being made. */
  insert(text: string, sound: readonly AudioFrame[]): Sentence;
  /** Resolves when everything added so far has been made into sound. Rejects when the voice fails. */
  made(): Promise<void>;
  /** Nothing is being said, and nothing waits. */
  readonly isIdle: boolean;
  readonly remainingMs: number;
  /** Resolves when everything has been heard, or will not be. */
  finish(): Promise<void>;
  /** Silences it for good. */
  cut(): void;
}

export interface Sentence {
  readonly text: string;
  /** What was heard of it by now: all of the text, some of its words, or nothing. */
  heard(): string;
  /** Resolves when it was heard, or will not be. */
  readonly over: Promise<void>;
}

export interface UtteranceOptions {
  transport: Transport;
  tts: TextToSpeech;
  /** What is spoken of a text. */
  toSpeech(text: string): string;
  signal: AbortSignal;
  /** Longest wait for the first sound of a sentence, and between two pieces. */
  limitMs: number;
  /** The first sound has come from the voice. */
  firstSound(): void;
  /** The voice failed; `isOutage`: it failed again, or in the middle of a sentence. */
  failed(failure: ServiceFailure, isOutage: boolean): void;
}

interface Part extends Sentence {
  spoken: string;
  /** In the utterance; undefined until its first sound. */
  startMs: number | undefined;
  lengthMs: number;
  words: TimedWord[];
  isMade: boolean;
  /** It broke off: the next sound is that of its beginning again. */
  isBroken: boolean;
  shown: SpokenSegment | undefined;
  toldCharacters: number;
  sound: AsyncIterator<AudioFrame | SpokenWords> | undefined;
  first: Promise<IteratorResult<AudioFrame | SpokenWords>> | undefined;
  setOver(): void;
}

const PROGRESS_MS = 100;
const USUAL_MS_PER_CHARACTER = 65;

export function openUtterance(options: UtteranceOptions): Utterance {
  const { transport, tts } = options;
  const { audioOut, rtvi } = transport;
  const cutting = new AbortController();
  const signal = AbortSignal.any([options.signal, cutting.signal]);
  const parts: Part[] = [];
  let writtenMs = 0;
  let baseMs: number | undefined;
  let heardFinallyMs: number | undefined;
  let speaking: Promise<void> = Promise.resolve();
  let failure: { error: unknown } | undefined;
  let pending = 0;

  function heardMs(): number {
    if (heardFinallyMs !== undefined) return heardFinallyMs;
    return baseMs === undefined ? 0 : Math.min(writtenMs, Math.max(0, audioOut.playedMs - baseMs));
  }

  function start(part: Part): void {
    if (part.sound || part.isMade || part.spoken === "" || signal.aborted) return;
    const at = parts.indexOf(part);
    const previousText = parts
      .slice(0, at)
      .map(({ spoken }) => spoken)
      .join(" ");
    const speaking = (of: AbortSignal) => tts.speak(part.spoken, { signal: of, previousText });
    const sound = limitWaits(speaking, { limitMs: options.limitMs, signal });
    part.sound = sound;
    part.first = sound.next();
    part.first.catch(() => undefined); // awaited when its turn has come
  }

  async function speak(part: Part): Promise<void> {
    if (part.spoken === "") part.isMade = true;
    if (signal.aborted || part.isMade || failure) return;
    await untilItWorks(() => make(part), {
      limitMs: options.limitMs,
      signal,
      asFailure: (error) => new ServiceFailure("tts", tts, error),
      failed(problem, isOutage) {
        part.sound = undefined;
        part.isBroken = part.startMs !== undefined;
        options.failed(problem, isOutage || part.isBroken);
      },
    });
  }

  async function make(part: Part): Promise<void> {
    start(part);
    const { sound, first } = part;
    if (!sound || !first) return;
    part.words = [];
    try {
      for (let next = await first; !next.done; next = await sound.next()) {
        if (signal.aborted) return;
        await take(part, next.value);
      }
      if (part.isBroken || (part.startMs === undefined && HAS_SOUND.test(part.spoken)))
        throw new Error("there was no sound");
      part.isMade = true;
      if (part.words.length === 0) part.words = timeWords(part.spoken, part.lengthMs);
    } finally {
      void Promise.resolve(sound.return?.()).catch(() => undefined);
    }
  }

  async function take(part: Part, piece: AudioFrame | SpokenWords): Promise<void> {
    if (!isAudio(piece)) return void part.words.push(...piece.words);
    if (piece.samples.length === 0) return;
    if (part.startMs === undefined) options.firstSound();
    if (!write(part, piece)) await audioOut.ready({ signal });
  }

  /** False: more than enough is queued. */
  function write(part: Part, piece: AudioFrame): boolean {
    if (part.startMs === undefined || part.isBroken) {
      part.isBroken = false;
      part.startMs = writtenMs;
      part.lengthMs = 0;
      if (part.text !== "") part.shown ??= rtvi.botOutput(part.text);
      follow();
    }
    const hasSpace = audioOut.write(piece);
    if (baseMs === undefined) {
      // Where this began: not at 0 when something else is still being heard.
      baseMs = Math.max(0, audioOut.playedMs + audioOut.queuedMs - frameMs(piece));
      rtvi.send("bot-tts-started", undefined);
    }
    writtenMs += frameMs(piece);
    part.lengthMs += frameMs(piece);
    return hasSpace;
  }

  function partOf(text: string, spoken: string): Part {
    const { promise: over, resolve: setOver } = Promise.withResolvers<void>();
    const part: Part = {
      text,
      spoken,
      startMs: undefined,
      lengthMs: 0,
      words: [],
      isMade: false,
      isBroken: false,
      shown: undefined,
      toldCharacters: 0,
      sound: undefined,
      first: undefined,
      over,
      setOver,
      heard() {
        const heard = spokenOf(part);
        return heard === part.spoken && (heard !== "" || part.isMade) ? part.text : heard.trim();
      },
    };
    parts.push(part);
    return part;
  }

  // How far the voice has got, for clients that show it.
  let following: NodeJS.Timeout | undefined;
  function follow(): void {
    following ??= setInterval(tellProgress, PROGRESS_MS);
  }

  function stopFollowing(): void {
    for (const part of parts) part.setOver();
    if (following === undefined) return;
    clearInterval(following);
    following = undefined;
    tellProgress();
    rtvi.send("bot-tts-stopped", undefined);
  }

  function tellProgress(): void {
    for (const part of parts) {
      if (!part.shown) {
        if (part.isMade) part.setOver(); // it has no sound
        continue;
      }
      const heard = spokenOf(part);
      if (heard === part.spoken) part.setOver();
      if (heard.length <= part.toldCharacters) continue;
      rtvi.send("bot-tts-text", { text: heard.slice(part.toldCharacters).trim() });
      part.toldCharacters = heard.length;
      // Words are counted in what is spoken, the client shows what was written.
      const share = heard.length / Math.max(1, part.spoken.length);
      if (heard.length < part.spoken.length) part.shown.spokenUpTo(Math.round(share * part.text.length));
      else part.shown.completed();
    }
  }

  function spokenOf(part: Part): string {
    if (part.startMs === undefined) return "";
    // No more of it than was written: something else may have followed before it was made.
    const playedMs = Math.min(heardMs() - part.startMs, part.lengthMs);
    if (part.isMade && playedMs >= part.lengthMs - FULLY_HEARD_MS) return part.spoken;
    const words = part.words.length > 0 ? part.words : timeWords(part.spoken, lengthOf(part));
    const heard = heardWords(words, playedMs)
      .map(({ text }) => text)
      .join("");
    return heard.slice(0, part.spoken.length);
  }

  /** Of a sentence still being made: as the ones before it were, or as people speak. */
  function lengthOf(part: Part): number {
    if (part.isMade) return part.lengthMs;
    const made = parts.filter(({ isMade, spoken }) => isMade && spoken !== "");
    const characters = made.reduce((sum, { spoken }) => sum + spoken.length, 0);
    const rate =
      characters > 0 ? made.reduce((sum, one) => sum + one.lengthMs, 0) / characters : USUAL_MS_PER_CHARACTER;
    return Math.max(part.lengthMs, part.spoken.length * rate);
  }

  return {
    add(text) {
      const part = partOf(text, options.toSpeech(text));
      pending += 1;
      // One ahead: the voice needs its time for the next sentence while this one is heard.
      if (pending <= 2) start(part);
      speaking = speaking
        .then(() => speak(part))
        .catch((error: unknown) => {
          if (!signal.aborted) failure ??= { error };
        })
        .finally(() => {
          pending -= 1;
          const next = parts[parts.indexOf(part) + 2];
          if (next && !failure) start(next);
        });
      return part;
    },
    insert(text, sound) {
      const part = partOf(text, options.toSpeech(text));
      if (signal.aborted || heardFinallyMs !== undefined) return part;
      for (const piece of sound) write(part, piece);
      part.isMade = true;
      part.words = timeWords(part.spoken, part.lengthMs);
      return part;
    },
    async made() {
      for (let seen: Promise<void> | undefined; seen !== speaking;) await (seen = speaking);
      if (failure) throw failure.error;
    },
    get isIdle() {
      return pending === 0 && audioOut.queuedMs === 0;
    },
    get remainingMs() {
      return pending > 0 ? Number.POSITIVE_INFINITY : writtenMs - heardMs();
    },
    async finish() {
      // Something may be added while the last of it is being heard.
      for (let seen: Promise<void> | undefined; seen !== speaking;) {
        await (seen = speaking);
        if (baseMs !== undefined && !signal.aborted)
          await audioOut.drained({ signal }).catch(() => undefined);
      }
      if (!signal.aborted) heardFinallyMs ??= writtenMs;
      heardFinallyMs ??= heardMs();
      stopFollowing();
    },
    cut() {
      if (heardFinallyMs === undefined) {
        heardFinallyMs = heardMs();
        if (baseMs === undefined) audioOut.resume();
        else heardFinallyMs = Math.min(writtenMs, Math.max(0, audioOut.clear().playedMs - baseMs));
      }
      cutting.abort();
      stopFollowing();
    },
  };
}

const HAS_SOUND = /[\p{L}\p{N}]/u;
const FULLY_HEARD_MS = 40; // what was heard is known to a piece of audio
