import { samplesIn } from "@vocalhost/audio";
import { createSampleHistory } from "../speech/sample-history.ts";
import { createSpeechTracker, type SpeechTracker } from "../speech/speech-tracker.ts";
import type { VoiceActivity } from "../speech/voice-activity.ts";

/** Speech and requests that a speech model has not answered yet. */
export interface Unanswered {
  /** Takes the caller's audio, as received and as sent to the model. */
  hear(samples: Int16Array, forModel: Int16Array): void;
  /** Call when the model reports speech; the speech is then no longer in doubt. */
  heardByModel(): void;
  /** Call when the text of the speech is known; its sound is no longer needed. */
  understood(): void;
  /** Notes that the bot asked for an answer, or for these words. */
  ask(say?: string): void;
  /** Call when the bot speaks; its requests are then answered. */
  answering(): void;
  /** Forgets everything that waits for an answer. */
  clear(): void;
  readonly isUserSpeaking: boolean;
  /**
   * Since when the caller has waited for an answer, by `performance.now()`; undefined when there is nothing to
   * answer, or the user is speaking.
   */
  readonly sinceMs: number | undefined;
  /** Speech whose text is not known. */
  readonly sound: Int16Array | undefined;
  readonly asked: { say: string | undefined } | undefined;
  /** Whether only our own detector took it for speech. */
  readonly isDoubtful: boolean;
}

export interface UnansweredOptions {
  voiceActivity: VoiceActivity;
  /** Sample rate of the model's input. */
  modelRateHz: number;
  limitMs: number;
  botIsHeard(): boolean;
  /** Called when the user begins to speak. */
  started(): void;
}

const START_MS = 160; // of speech
const STOP_MS = 200;
const RESUME_MS = 64;
const PRE_ROLL_MS = 300;
const CERTAIN_MS = 1_000; // a user who only says "mm-hmm" over the bot wants no answer
const OVER_MS = 700;
const KEPT_MS = 60_000;

export function createUnanswered(options: UnansweredOptions): Unanswered {
  return new UnansweredSpeech(options);
}

class UnansweredSpeech implements Unanswered {
  readonly #options: UnansweredOptions;
  readonly #windowMs: number;
  readonly #tracker: SpeechTracker;
  readonly #history = createSampleHistory();
  #from: number | undefined; // where the unanswered speech begins
  #beganAt = 0; // where the last speech began
  #beganOverBot = false;
  #lastSpeechAtMs = Number.NEGATIVE_INFINITY;
  #asked: { say: string | undefined; atMs: number } | undefined;
  #isDoubtful = true;

  constructor(options: UnansweredOptions) {
    this.#options = options;
    this.#windowMs = options.voiceActivity.windowMs;
    this.#tracker = createSpeechTracker({
      windowMs: this.#windowMs,
      startMs: START_MS,
      stopMs: STOP_MS,
      resumeMs: RESUME_MS,
    });
  }

  hear(samples: Int16Array, forModel: Int16Array): void {
    this.#history.push(forModel);
    for (const isSpeech of this.#options.voiceActivity.process(samples)) this.#onWindow(isSpeech);
    const isKept = this.#from !== undefined || this.#tracker.state !== "quiet";
    const keptMs = isKept ? KEPT_MS : PRE_ROLL_MS + START_MS + 100;
    this.#history.dropBefore(this.#history.end - samplesIn(keptMs, this.#options.modelRateHz));
  }

  heardByModel(): void {
    this.#isDoubtful = false;
    if (this.#from !== undefined) return;
    this.#from = this.#tracker.state === "quiet" ? this.#history.start : this.#beganAt;
    this.#lastSpeechAtMs = performance.now();
  }

  understood(): void {
    if (this.#from === undefined) return;
    this.#asked ??= { say: undefined, atMs: this.#lastSpeechAtMs + this.#options.limitMs / 8 };
    this.#from = this.#isUserSpeaking() ? this.#beganAt : undefined;
  }

  ask(say?: string): void {
    this.#asked = { say, atMs: this.#asked?.atMs ?? performance.now() };
  }

  answering(): void {
    this.#asked = undefined;
  }

  clear(): void {
    this.#from = undefined;
    this.#asked = undefined;
    this.#isDoubtful = true;
    if (this.#tracker.state === "paused") this.#tracker.end();
  }

  get isUserSpeaking(): boolean {
    return this.#isUserSpeaking();
  }

  get sinceMs(): number | undefined {
    if (this.#isUserSpeaking()) return undefined;
    // The time for deciding whether the caller has finished is not counted.
    const spokenAtMs =
      this.#from === undefined ? undefined : this.#lastSpeechAtMs + this.#options.limitMs / 8;
    return this.#asked && spokenAtMs !== undefined
      ? Math.min(this.#asked.atMs, spokenAtMs)
      : (this.#asked?.atMs ?? spokenAtMs);
  }

  get sound(): Int16Array | undefined {
    return this.#from === undefined ? undefined : this.#history.slice(this.#from, this.#history.end);
  }

  get asked(): { say: string | undefined } | undefined {
    return this.#asked;
  }

  get isDoubtful(): boolean {
    return this.#isDoubtful && this.#asked === undefined;
  }

  #onWindow(isSpeech: boolean): void {
    const change = this.#tracker.window(isSpeech);
    if (change === "started") {
      this.#beganOverBot = this.#options.botIsHeard();
      this.#options.started();
    }
    if (change === "started" || change === "resumed")
      this.#beganAt = Math.max(
        this.#history.start,
        this.#history.end - samplesIn(PRE_ROLL_MS + START_MS, this.#options.modelRateHz),
      );
    if (this.#tracker.state === "speaking" && isSpeech) {
      this.#lastSpeechAtMs = performance.now();
      if (!this.#beganOverBot || this.#tracker.speechMs >= CERTAIN_MS) this.#from ??= this.#beganAt;
    }
    if (this.#tracker.state === "paused" && this.#from === undefined && this.#tracker.silenceMs >= OVER_MS)
      this.#tracker.end();
  }

  #isUserSpeaking(): boolean {
    return (
      this.#tracker.state !== "quiet" && performance.now() - this.#lastSpeechAtMs < STOP_MS + this.#windowMs
    );
  }
}
