import { EventEmitter } from "node:events";
import { frameMs, type AudioFrame, type Transport } from "vocalhost";
import { heardText, type Speech, type TextPiece } from "./heard-text.ts";
import type { Subtitles } from "./subtitles.ts";

/** Plays one stretch of speech after another, text and sound, and knows how much of it was heard. */
export interface SpeechPlayer {
  /** False: text is shown only. */
  isAudible: boolean;
  /** Whether all sound of the current speech has arrived, and some is still to be heard. */
  readonly isFinishing: boolean;
  addText(piece: TextPiece): void;
  endText(): void;
  /** Resolves when more can be taken. */
  write(frame: AudioFrame): Promise<void>;
  endSound(): void;
  /** Silences the current speech for good. */
  cut(): void;
  pause(): void;
  resume(): void;
  close(): void;
  on<E extends keyof SpeechPlayerEvents>(event: E, listener: (...about: SpeechPlayerEvents[E]) => void): void;
}

export interface SpeechPlayerEvents {
  /** Emitted with the first audible sound of a speech. */
  started: [];
  finished: [Heard];
}

export interface Heard {
  playedMs: number;
  interrupted: boolean;
  /** Undefined for speech without a text. */
  heard: string | undefined;
}

interface CurrentSpeech extends Speech {
  waiting: AudioFrame[];
  waitingMs: number;
  moved: PromiseWithResolvers<void>;
  writtenMs: number;
  /** Position of its first sample in the playback; undefined until then. */
  baseMs: number | undefined;
  hasStarted: boolean;
  isTextComplete: boolean;
  isPumping: boolean;
}

// Voices generate faster than real time, and an interrupted session does not wait for us, so an answer of ordinary
// length is buffered whole. Beyond this the voice has to wait.
const WAITING_MAX_MS = 60_000;
const PROGRESS_MS = 100;

export function createSpeechPlayer(transport: Transport, subtitles: Subtitles): SpeechPlayer {
  return new QueuedSpeechPlayer(transport, subtitles);
}

class QueuedSpeechPlayer implements SpeechPlayer {
  readonly #transport: Transport;
  readonly #subtitles: Subtitles;
  readonly #events = new EventEmitter<SpeechPlayerEvents>();
  #current: CurrentSpeech | undefined;
  #isSounding = false;
  #following: NodeJS.Timeout | undefined;
  /** Runs when the client is gone and nothing more will be heard. */
  readonly #givenUp = (speech: CurrentSpeech) => (): void => {
    if (speech === this.#current) this.#finish(speech, this.#playedMs(speech), true);
  };
  readonly #onStarted = (): void => {
    this.#isSounding = true;
    if (this.#current?.baseMs !== undefined && !this.#transport.audioOut.isPaused) this.#start(this.#current);
  };
  readonly #onStopped = (): void => void (this.#isSounding = false);
  isAudible = true;

  constructor(transport: Transport, subtitles: Subtitles) {
    this.#transport = transport;
    this.#subtitles = subtitles;
    transport.audioOut.on("started", this.#onStarted);
    transport.audioOut.on("stopped", this.#onStopped);
  }

  get isFinishing(): boolean {
    return this.#current?.isSoundComplete ?? false;
  }

  addText(piece: TextPiece): void {
    // The text before was never spoken.
    if (this.#current?.isTextComplete && this.#current.soundMs === 0) this.#finish(this.#current, 0, true);
    const speech = this.#open();
    speech.text += piece.text;
    speech.pieces.push(piece);
    this.#subtitles.written(piece.text);
  }

  endText(): void {
    if (!this.#current) return;
    this.#current.isTextComplete = true;
    this.#subtitles.writtenToTheEnd();
    if (this.isAudible || this.#current.soundMs > 0) return;
    this.#subtitles.showSilently(this.#current.text);
    this.#finish(this.#current, 0, false);
  }

  async write(frame: AudioFrame): Promise<void> {
    const speech = this.#open();
    speech.waiting.push(frame);
    speech.waitingMs += frameMs(frame);
    speech.soundMs += frameMs(frame);
    if (!speech.isPumping) void this.#pump(speech).catch(this.#givenUp(speech));
    while (speech === this.#current && speech.waitingMs > WAITING_MAX_MS) await speech.moved.promise;
  }

  endSound(): void {
    if (!this.#current || this.#current.soundMs === 0 || this.#current.isSoundComplete) return;
    this.#current.isSoundComplete = true;
    if (!this.#current.isPumping)
      void this.#finishWhenHeard(this.#current).catch(this.#givenUp(this.#current));
  }

  cut(): void {
    const speech = this.#current;
    if (!speech) return;
    if (speech.baseMs === undefined) return this.#finish(speech, 0, true);
    const { playedMs: totalMs } = this.#transport.audioOut.clear();
    this.#finish(speech, this.#playedMs(speech, totalMs), true);
  }

  pause(): void {
    this.#transport.audioOut.pause();
  }

  resume(): void {
    this.#transport.audioOut.resume();
  }

  close(): void {
    this.cut();
    this.#transport.audioOut.off("started", this.#onStarted);
    this.#transport.audioOut.off("stopped", this.#onStopped);
  }

  on<E extends keyof SpeechPlayerEvents>(
    event: E,
    listener: (...about: SpeechPlayerEvents[E]) => void,
  ): void {
    this.#events.on(event, listener as never);
  }

  #open(): CurrentSpeech {
    this.#current ??= {
      text: "",
      pieces: [],
      soundMs: 0,
      isSoundComplete: false,
      waiting: [],
      waitingMs: 0,
      moved: Promise.withResolvers(),
      writtenMs: 0,
      baseMs: undefined,
      hasStarted: false,
      isTextComplete: false,
      isPumping: false,
    };
    return this.#current;
  }

  #playedMs({ baseMs, writtenMs }: CurrentSpeech, totalMs = this.#transport.audioOut.playedMs): number {
    return baseMs === undefined ? 0 : Math.min(writtenMs, Math.max(0, totalMs - baseMs));
  }

  async #pump(speech: CurrentSpeech): Promise<void> {
    speech.isPumping = true;
    for (let frame = speech.waiting.shift(); frame; frame = speech.waiting.shift()) {
      speech.waitingMs -= frameMs(frame);
      const hasSpace = this.#transport.audioOut.write(frame);
      speech.writtenMs += frameMs(frame);
      // Not 0 when earlier sound is still being played.
      if (speech.baseMs === undefined) {
        speech.baseMs = Math.max(
          0,
          this.#transport.audioOut.playedMs + this.#transport.audioOut.queuedMs - frameMs(frame),
        );
        this.#begin(speech);
      }
      if (!hasSpace) await this.#transport.audioOut.ready({ signal: this.#transport.signal });
      if (speech !== this.#current) return;
      speech.moved.resolve();
      speech.moved = Promise.withResolvers();
    }
    speech.isPumping = false;
    if (speech.isSoundComplete) await this.#finishWhenHeard(speech);
  }

  #begin(speech: CurrentSpeech): void {
    this.#subtitles.sounds();
    if (this.#isSounding && !this.#transport.audioOut.isPaused) this.#start(speech);
    this.#following ??= setInterval(this.#follow, PROGRESS_MS);
  }

  #start(speech: CurrentSpeech): void {
    if (speech.hasStarted) return;
    speech.hasStarted = true;
    this.#events.emit("started");
  }

  readonly #follow = (): void => {
    if (!this.#current) return;
    const nowMs = this.#playedMs(this.#current);
    if (nowMs > 0) this.#start(this.#current);
    this.#subtitles.heard(this.#current.text, heardText(this.#current, nowMs).length);
  };

  async #finishWhenHeard(speech: CurrentSpeech): Promise<void> {
    const { playedMs: totalMs, interrupted } = await this.#transport.audioOut.drained({
      signal: this.#transport.signal,
    });
    if (speech !== this.#current) return;
    this.#finish(speech, interrupted ? this.#playedMs(speech, totalMs) : speech.writtenMs, interrupted);
  }

  #finish(speech: CurrentSpeech, heardMs: number, interrupted: boolean): void {
    this.#current = undefined;
    clearInterval(this.#following);
    this.#following = undefined;
    const heard = interrupted ? heardText(speech, heardMs) : speech.text;
    if (heardMs > 0) this.#start(speech);
    this.#subtitles.heard(speech.text, heard.length);
    this.#subtitles.over({ interrupted: interrupted && speech.soundMs > 0 });
    speech.moved.resolve();
    if (speech.soundMs > 0)
      this.#events.emit("finished", {
        playedMs: heardMs,
        interrupted,
        heard: speech.text === "" ? undefined : heard.trim(),
      });
  }
}
