import { frameMs, type AudioFrame } from "@vocalhost/audio";
import type { SpokenSegment } from "../rtvi/bot-output.ts";
import type { RtviSession } from "../rtvi/rtvi-session.ts";
import { heardWords, timeWords, type TimedWord } from "../speech/words.ts";
import type { AudioOutput, Transport } from "../transports/transport.ts";
import { withTimeouts } from "./timeouts.ts";
import { ServiceFailure } from "./service-failure.ts";
import { isAudio, type SpokenWords, type TextToSpeech } from "./services.ts";
import { retry } from "./retry.ts";

/** One stretch of the bot's speech, sentence by sentence. It knows which part was heard. */
export interface Utterance {
  /** Speaks a sentence after all those added before. */
  add(sentence: string): Sentence;
  /** Plays this sound now, before sentences that are still being generated. */
  insert(text: string, sound: readonly AudioFrame[]): Sentence;
  /** Resolves when all sentences added so far have been generated. Rejects when the voice fails. */
  made(): Promise<void>;
  /** Whether there is nothing to speak or to play. */
  readonly isIdle: boolean;
  readonly remainingMs: number;
  /** Resolves when everything has been heard, or was given up. */
  finish(): Promise<void>;
  /** Stops it for good. */
  cut(): void;
  /** Returns the text of it that was heard. */
  heard(): string;
}

export interface Sentence {
  readonly text: string;
  /** Returns the part heard so far: the whole text, some of its words, or nothing. */
  heard(): string;
  /** Resolves when the sentence was heard, or was given up. */
  readonly over: Promise<void>;
}

export interface UtteranceOptions {
  transport: Transport;
  tts: TextToSpeech;
  /** Returns the text to speak for a written text. */
  toSpeech(text: string): string;
  signal: AbortSignal;
  /** Longest wait for the first sound of a sentence, and between two pieces. */
  limitMs: number;
  /** Called with the voice's first sound. */
  firstSound(): void;
  /** Called when the voice fails; `isOutage`: it failed again, or within a sentence. */
  failed(failure: ServiceFailure, isOutage: boolean): void;
}

interface Part extends Sentence {
  spoken: string;
  /** Position in the utterance; undefined until the first sound. */
  startMs: number | undefined;
  lengthMs: number;
  words: TimedWord[];
  isMade: boolean;
  /** Its sound broke off; the next piece starts from its beginning again. */
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
  return new SpokenUtterance(options);
}

class SpokenUtterance implements Utterance {
  readonly #options: UtteranceOptions;
  readonly #audioOut: AudioOutput;
  readonly #rtvi: RtviSession;
  readonly #cutting = new AbortController();
  readonly #signal: AbortSignal;
  readonly #parts: Part[] = [];
  #writtenMs = 0;
  #baseMs: number | undefined;
  #heardFinallyMs: number | undefined;
  #speaking: Promise<void> = Promise.resolve();
  #failure: { error: unknown } | undefined;
  #pending = 0;
  // Runs while a client is told how far the voice has got.
  #following: NodeJS.Timeout | undefined;

  constructor(options: UtteranceOptions) {
    this.#options = options;
    this.#audioOut = options.transport.audioOut;
    this.#rtvi = options.transport.rtvi;
    this.#signal = AbortSignal.any([options.signal, this.#cutting.signal]);
  }

  add(text: string): Sentence {
    const part = this.#partOf(text, this.#options.toSpeech(text));
    this.#pending += 1;
    // Generates one sentence ahead while the current one is heard.
    if (this.#pending <= 2) this.#start(part);
    this.#speaking = this.#speaking
      .then(() => this.#speak(part))
      .catch((error: unknown) => {
        if (!this.#signal.aborted) this.#failure ??= { error };
      })
      .finally(() => {
        this.#pending -= 1;
        const next = this.#parts[this.#parts.indexOf(part) + 2];
        if (next && !this.#failure) this.#start(next);
      });
    return part;
  }

  insert(text: string, sound: readonly AudioFrame[]): Sentence {
    const part = this.#partOf(text, this.#options.toSpeech(text));
    if (this.#signal.aborted || this.#heardFinallyMs !== undefined) return part;
    for (const piece of sound) this.#write(part, piece);
    part.isMade = true;
    part.words = timeWords(part.spoken, part.lengthMs);
    return part;
  }

  async made(): Promise<void> {
    for (let seen: Promise<void> | undefined; seen !== this.#speaking;) await (seen = this.#speaking);
    if (this.#failure) throw this.#failure.error;
  }

  get isIdle(): boolean {
    return this.#pending === 0 && this.#audioOut.queuedMs === 0;
  }

  get remainingMs(): number {
    return this.#pending > 0 ? Number.POSITIVE_INFINITY : this.#writtenMs - this.#heardMs();
  }

  async finish(): Promise<void> {
    // A sentence may be added while the last one is being heard.
    for (let seen: Promise<void> | undefined; seen !== this.#speaking;) {
      await (seen = this.#speaking);
      if (this.#baseMs !== undefined && !this.#signal.aborted)
        await this.#audioOut.drained({ signal: this.#signal }).catch(() => undefined);
    }
    if (!this.#signal.aborted) this.#heardFinallyMs ??= this.#writtenMs;
    this.#heardFinallyMs ??= this.#heardMs();
    this.#stopFollowing();
  }

  cut(): void {
    if (this.#heardFinallyMs === undefined) {
      this.#heardFinallyMs = this.#heardMs();
      if (this.#baseMs === undefined) this.#audioOut.resume();
      else
        this.#heardFinallyMs = Math.min(
          this.#writtenMs,
          Math.max(0, this.#audioOut.clear().playedMs - this.#baseMs),
        );
    }
    this.#cutting.abort();
    this.#stopFollowing();
  }

  heard(): string {
    return this.#parts
      .map((part) => part.heard())
      .filter((text) => text !== "")
      .join(" ");
  }

  #heardMs(): number {
    if (this.#heardFinallyMs !== undefined) return this.#heardFinallyMs;
    return this.#baseMs === undefined
      ? 0
      : Math.min(this.#writtenMs, Math.max(0, this.#audioOut.playedMs - this.#baseMs));
  }

  #start(part: Part): void {
    if (part.sound || part.isMade || part.spoken === "" || this.#signal.aborted) return;
    const at = this.#parts.indexOf(part);
    const previousText = this.#parts
      .slice(0, at)
      .map(({ spoken }) => spoken)
      .join(" ");
    const speaking = (of: AbortSignal) => this.#options.tts.speak(part.spoken, { signal: of, previousText });
    const sound = withTimeouts(speaking, { limitMs: this.#options.limitMs, signal: this.#signal });
    part.sound = sound;
    part.first = sound.next();
    part.first.catch(() => undefined); // awaited when the sentence is played
  }

  async #speak(part: Part): Promise<void> {
    if (part.spoken === "") part.isMade = true;
    if (this.#signal.aborted || part.isMade || this.#failure) return;
    await retry(() => this.#make(part), {
      limitMs: this.#options.limitMs,
      signal: this.#signal,
      asFailure: (error) => new ServiceFailure("tts", this.#options.tts, error),
      failed: (problem, isOutage) => {
        part.sound = undefined;
        part.isBroken = part.startMs !== undefined;
        this.#options.failed(problem, isOutage || part.isBroken);
      },
    });
  }

  async #make(part: Part): Promise<void> {
    this.#start(part);
    const { sound, first } = part;
    if (!sound || !first) return;
    part.words = [];
    try {
      for (let next = await first; !next.done; next = await sound.next()) {
        if (this.#signal.aborted) return;
        await this.#take(part, next.value);
      }
      if (part.isBroken || (part.startMs === undefined && HAS_SOUND.test(part.spoken)))
        throw new Error("there was no sound");
      part.isMade = true;
      if (part.words.length === 0) part.words = timeWords(part.spoken, part.lengthMs);
    } finally {
      void Promise.resolve(sound.return?.()).catch(() => undefined);
    }
  }

  async #take(part: Part, piece: AudioFrame | SpokenWords): Promise<void> {
    if (!isAudio(piece)) return void part.words.push(...piece.words);
    if (piece.samples.length === 0) return;
    if (part.startMs === undefined) this.#options.firstSound();
    if (!this.#write(part, piece)) await this.#audioOut.ready({ signal: this.#signal });
  }

  /** Returns false when the output's queue is full. */
  #write(part: Part, piece: AudioFrame): boolean {
    if (part.startMs === undefined || part.isBroken) {
      part.isBroken = false;
      part.startMs = this.#writtenMs;
      part.lengthMs = 0;
      if (part.text !== "") part.shown ??= this.#rtvi.botOutput(part.text);
      this.#follow();
    }
    const hasSpace = this.#audioOut.write(piece);
    if (this.#baseMs === undefined) {
      // Not 0 when earlier sound is still being played.
      this.#baseMs = Math.max(0, this.#audioOut.playedMs + this.#audioOut.queuedMs - frameMs(piece));
      this.#rtvi.send("bot-tts-started", undefined);
    }
    this.#writtenMs += frameMs(piece);
    part.lengthMs += frameMs(piece);
    return hasSpace;
  }

  #partOf(text: string, spoken: string): Part {
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
      heard: () => {
        const heard = this.#spokenOf(part);
        return heard === part.spoken && (heard !== "" || part.isMade) ? part.text : heard.trim();
      },
    };
    this.#parts.push(part);
    return part;
  }

  #follow(): void {
    this.#following ??= setInterval(this.#tellProgress, PROGRESS_MS);
  }

  #stopFollowing(): void {
    for (const part of this.#parts) part.setOver();
    if (this.#following === undefined) return;
    clearInterval(this.#following);
    this.#following = undefined;
    this.#tellProgress();
    this.#rtvi.send("bot-tts-stopped", undefined);
  }

  readonly #tellProgress = (): void => {
    for (const part of this.#parts) {
      if (!part.shown) {
        if (part.isMade) part.setOver(); // it has no sound
        continue;
      }
      const heard = this.#spokenOf(part);
      if (heard === part.spoken) part.setOver();
      if (heard.length <= part.toldCharacters) continue;
      this.#rtvi.send("bot-tts-text", { text: heard.slice(part.toldCharacters).trim() });
      part.toldCharacters = heard.length;
      // Progress is counted in spoken characters, and the client shows the written ones.
      const share = heard.length / Math.max(1, part.spoken.length);
      if (heard.length < part.spoken.length) part.shown.spokenUpTo(Math.round(share * part.text.length));
      else part.shown.completed();
    }
  };

  #spokenOf(part: Part): string {
    if (part.startMs === undefined) return "";
    // Bounded by what was written: other sound may follow a sentence that is not complete.
    const playedMs = Math.min(this.#heardMs() - part.startMs, part.lengthMs);
    if (part.isMade && playedMs >= part.lengthMs - FULLY_HEARD_MS) return part.spoken;
    const words = part.words.length > 0 ? part.words : timeWords(part.spoken, this.#lengthOf(part));
    const heard = heardWords(words, playedMs)
      .map(({ text }) => text)
      .join("");
    return heard.slice(0, part.spoken.length);
  }

  /** Estimates an incomplete sentence from the ones before it, or from usual speech. */
  #lengthOf(part: Part): number {
    if (part.isMade) return part.lengthMs;
    const made = this.#parts.filter(({ isMade, spoken }) => isMade && spoken !== "");
    const characters = made.reduce((sum, { spoken }) => sum + spoken.length, 0);
    const rate =
      characters > 0 ? made.reduce((sum, one) => sum + one.lengthMs, 0) / characters : USUAL_MS_PER_CHARACTER;
    return Math.max(part.lengthMs, part.spoken.length * rate);
  }
}

const HAS_SOUND = /[\p{L}\p{N}]/u;
const FULLY_HEARD_MS = 40; // playback is reported with this precision
