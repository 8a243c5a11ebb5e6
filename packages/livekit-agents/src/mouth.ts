import { EventEmitter } from "node:events";
import { frameMs, type AudioFrame, type Transport } from "vocalhost";
import { heardText, type Speech, type TextPiece } from "./heard-text.ts";
import type { Subtitles } from "./subtitles.ts";

/** Says one stretch of speech after the other, text and sound, and knows how much of it was heard. */
export interface Mouth {
  /** False: what is written is shown only. */
  isAudible: boolean;
  /** All sound of the current speech is there and some of it is still to be heard. */
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
  on<E extends keyof MouthEvents>(event: E, listener: (...about: MouthEvents[E]) => void): void;
}

export interface MouthEvents {
  /** The first sound of a speech is heard. */
  started: [];
  finished: [Heard];
}

export interface Heard {
  playedMs: number;
  interrupted: boolean;
  /** Undefined when nobody wrote what is said. */
  heard: string | undefined;
}

interface CurrentSpeech extends Speech {
  waiting: AudioFrame[];
  waitingMs: number;
  moved: PromiseWithResolvers<void>;
  writtenMs: number;
  /** Where it begins in what the transport plays; undefined until its first sound. */
  baseMs: number | undefined;
  hasStarted: boolean;
  isTextComplete: boolean;
  isPumping: boolean;
}

// Voices are faster than listeners, and a session that is being interrupted does not wait for us: an answer of
// ordinary length is taken whole. Beyond this the voice has to wait.
const WAITING_MAX_MS = 60_000;
const PROGRESS_MS = 100;

export function createMouth(transport: Transport, subtitles: Subtitles): Mouth {
  const { audioOut, signal } = transport;
  const events = new EventEmitter<MouthEvents>();
  let current: CurrentSpeech | undefined;
  let isSounding = false;
  let following: NodeJS.Timeout | undefined;

  function open(): CurrentSpeech {
    current ??= {
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
    return current;
  }

  function playedMs({ baseMs, writtenMs }: CurrentSpeech, totalMs = audioOut.playedMs): number {
    return baseMs === undefined ? 0 : Math.min(writtenMs, Math.max(0, totalMs - baseMs));
  }

  async function pump(speech: CurrentSpeech): Promise<void> {
    speech.isPumping = true;
    for (let frame = speech.waiting.shift(); frame; frame = speech.waiting.shift()) {
      speech.waitingMs -= frameMs(frame);
      const hasSpace = audioOut.write(frame);
      speech.writtenMs += frameMs(frame);
      // Not at 0 when something else is still being heard.
      if (speech.baseMs === undefined) {
        speech.baseMs = Math.max(0, audioOut.playedMs + audioOut.queuedMs - frameMs(frame));
        begin(speech);
      }
      if (!hasSpace) await audioOut.ready({ signal });
      if (speech !== current) return;
      speech.moved.resolve();
      speech.moved = Promise.withResolvers();
    }
    speech.isPumping = false;
    if (speech.isSoundComplete) await finishWhenHeard(speech);
  }

  function begin(speech: CurrentSpeech): void {
    subtitles.sounds();
    if (isSounding && !audioOut.isPaused) start(speech);
    following ??= setInterval(follow, PROGRESS_MS);
  }

  function start(speech: CurrentSpeech): void {
    if (speech.hasStarted) return;
    speech.hasStarted = true;
    events.emit("started");
  }

  function follow(): void {
    if (!current) return;
    const nowMs = playedMs(current);
    if (nowMs > 0) start(current);
    subtitles.heard(current.text, heardText(current, nowMs).length);
  }

  async function finishWhenHeard(speech: CurrentSpeech): Promise<void> {
    const { playedMs: totalMs, interrupted } = await audioOut.drained({ signal });
    if (speech !== current) return;
    finish(speech, interrupted ? playedMs(speech, totalMs) : speech.writtenMs, interrupted);
  }

  function finish(speech: CurrentSpeech, heardMs: number, interrupted: boolean): void {
    current = undefined;
    clearInterval(following);
    following = undefined;
    const heard = interrupted ? heardText(speech, heardMs) : speech.text;
    if (heardMs > 0) start(speech);
    subtitles.heard(speech.text, heard.length);
    subtitles.over({ interrupted: interrupted && speech.soundMs > 0 });
    speech.moved.resolve();
    if (speech.soundMs > 0)
      events.emit("finished", {
        playedMs: heardMs,
        interrupted,
        heard: speech.text === "" ? undefined : heard.trim(),
      });
  }

  function cut(): void {
    const speech = current;
    if (!speech) return;
    if (speech.baseMs === undefined) return finish(speech, 0, true);
    const { playedMs: totalMs } = audioOut.clear();
    finish(speech, playedMs(speech, totalMs), true);
  }

  /** The client is gone: nothing more will be heard. */
  const givenUp = (speech: CurrentSpeech) => (): void => {
    if (speech === current) finish(speech, playedMs(speech), true);
  };

  const onStarted = (): void => {
    isSounding = true;
    if (current?.baseMs !== undefined && !audioOut.isPaused) start(current);
  };
  const onStopped = (): void => void (isSounding = false);
  audioOut.on("started", onStarted);
  audioOut.on("stopped", onStopped);

  return {
    isAudible: true,
    get isFinishing() {
      return current?.isSoundComplete ?? false;
    },
    addText(piece) {
      // The one before was written and never spoken.
      if (current?.isTextComplete && current.soundMs === 0) finish(current, 0, true);
      const speech = open();
      speech.text += piece.text;
      speech.pieces.push(piece);
      subtitles.written(piece.text);
    },
    endText() {
      if (!current) return;
      current.isTextComplete = true;
      subtitles.writtenToTheEnd();
      if (this.isAudible || current.soundMs > 0) return;
      subtitles.showSilently(current.text);
      finish(current, 0, false);
    },
    async write(frame) {
      const speech = open();
      speech.waiting.push(frame);
      speech.waitingMs += frameMs(frame);
      speech.soundMs += frameMs(frame);
      if (!speech.isPumping) void pump(speech).catch(givenUp(speech));
      while (speech === current && speech.waitingMs > WAITING_MAX_MS) await speech.moved.promise;
    },
    endSound() {
      if (!current || current.soundMs === 0 || current.isSoundComplete) return;
      current.isSoundComplete = true;
      if (!current.isPumping) void finishWhenHeard(current).catch(givenUp(current));
    },
    cut,
    pause: () => audioOut.pause(),
    resume: () => audioOut.resume(),
    close() {
      cut();
      audioOut.off("started", onStarted);
      audioOut.off("stopped", onStopped);
    },
    on: (event, listener) => void events.on(event, listener as never),
  };
}
