import { samplesIn, type AudioFrame } from "@vocalhost/audio";
import type { EndOfTurn, TurnPause } from "../speech/end-of-turn.ts";
import { createSampleHistory } from "../speech/sample-history.ts";
import { NearTalker } from "../speech/near-talker.ts";
import { createSpeechTracker, type SpeechTracker } from "../speech/speech-tracker.ts";
import type { VoiceActivity } from "../speech/voice-activity.ts";
import { ServiceFailure } from "./service-failure.ts";
import type { AudioInput } from "../transports/transport.ts";
import type { SpeechToTextStream } from "./services.ts";

/** Follows the user's speech: where turns begin, what they contain and when they are over. */
export interface Listening {
  /** Resolves when the input has ended. */
  readonly ended: Promise<void>;
  /** Sets the text of the current turn as far as it is understood. */
  partial(text: string): void;
  /** Speech of the current turn. */
  readonly speechMs: number;
  /**
   * When the speech ended whose text is not known yet, by `nowMs`; undefined when there is none, or the user is
   * still speaking.
   */
  readonly waitsSinceMs: number | undefined;
  stop(): void;
}

export interface ListenOptions {
  audioIn: AudioInput;
  voiceActivity: VoiceActivity;
  stt: SpeechToTextStream;
  endOfTurn: EndOfTurn;
  limits: ListenLimits;
  signal: AbortSignal;
  nowMs(): number;
  started(): void;
  /** Called when part of the turn was understood; `isPause` when the user has stopped and the text is final. */
  understood(turn: { text: string; isPause: boolean; speechMs: number }): void;
  ended(turn: UserTurn): void;
  /** Whether any sound of the bot was heard since the last turn ended. Speech may then be an interruption. */
  botWasHeard(): boolean;
  failed(error: unknown): void;
}

export interface ListenLimits {
  startMs: number;
  stopMs: number;
  preRollMs: number;
  /** Longest stretch of speech that is transcribed at once. */
  maxStretchMs: number;
}

export interface UserTurn {
  text: string;
  speechMs: number;
  /** When speech was last heard, by `nowMs`. */
  speechEndedAtMs: number;
  /** When its text was known. */
  understoodAtMs: number;
  /** When the turn was judged to be over. */
  decidedAtMs: number;
}

interface Turn {
  /** Texts of the stretches between pauses, in order. */
  texts: string[];
  partial: string;
  /** Number of stretches whose text is not known yet. */
  waitingFor: number;
  understoodAtMs: number;
  /** Written since the last flush. */
  writtenSamples: number;
  /** Where the current pause began. */
  pausedAt: number | undefined;
  /** Silence that ends the turn; undefined until it is known for this pause. */
  neededMs: number | undefined;
  pauses: number;
}

const RESUME_MS = 64;
const NO_FRAMES_MS = 1_000; // a client that sends nothing for this long is muted; a shorter gap is the network's
const NO_FRAMES_IN_SPEECH_MS = 2_000; // users do not mute themselves within a word
const WATCH_MS = 200;
const JUDGED_AUDIO_MS = 8_000;
const UNJUDGED_MS = 700;
const WRONG_END_MS = 1_200; // a user who speaks again this soon had not finished

export function listen(options: ListenOptions): Listening {
  return new TurnListener(options);
}

class TurnListener implements Listening {
  readonly #options: ListenOptions;
  readonly #sampleRateHz: number;
  readonly #tracker: SpeechTracker;
  readonly #near = new NearTalker();
  readonly #history = createSampleHistory();
  readonly #frames: AsyncIterator<AudioFrame>;
  #turn: Turn | undefined;
  #lastFrameAtMs: number;
  #ticksWithoutFrame = 0;
  #pauseMs = 0;
  #lastEndedAtMs = Number.NEGATIVE_INFINITY;
  #silenceBeforeEndMs = 0;
  #isStopped = false;
  // Counts ticks instead of reading the clock: after a stall of this process, frames sent meanwhile are still
  // queued.
  readonly #watch = setInterval(() => {
    this.#ticksWithoutFrame += 1;
    const patienceMs = this.#tracker.silenceMs === 0 ? NO_FRAMES_IN_SPEECH_MS : NO_FRAMES_MS;
    if (this.#turn && this.#ticksWithoutFrame > patienceMs / WATCH_MS)
      this.#process(new Int16Array(samplesIn(WATCH_MS, this.#sampleRateHz)), true);
  }, WATCH_MS);
  readonly ended: Promise<void>;

  constructor(options: ListenOptions) {
    this.#options = options;
    this.#sampleRateHz = options.audioIn.sampleRateHz;
    this.#tracker = createSpeechTracker({
      windowMs: options.voiceActivity.windowMs,
      startMs: options.limits.startMs,
      stopMs: options.limits.stopMs,
      resumeMs: RESUME_MS,
    });
    this.#frames = options.audioIn[Symbol.asyncIterator]();
    this.#lastFrameAtMs = options.nowMs();
    this.ended = this.#run();
  }

  partial(text: string): void {
    if (!this.#turn || this.#isStopped) return;
    this.#turn.partial = text.trim();
    this.#tell(this.#turn, false);
  }

  get speechMs(): number {
    return this.#tracker.speechMs;
  }

  get waitsSinceMs(): number | undefined {
    if (!this.#turn || this.#turn.waitingFor === 0 || this.#tracker.state !== "paused") return undefined;
    return this.#lastFrameAtMs - this.#tracker.silenceMs;
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#watch);
    void Promise.resolve(this.#frames.return?.()).catch(() => undefined);
  }

  #take({ samples, nearShare }: AudioFrame): void {
    this.#lastFrameAtMs = this.#options.nowMs();
    this.#ticksWithoutFrame = 0;
    this.#process(samples, this.#near.hear(nearShare));
  }

  #process(samples: Int16Array, isCaller: boolean): void {
    this.#history.push(samples);
    // The first samples of a turn are written together with the pre-roll.
    if (this.#turn && this.#turn.pausedAt === undefined) this.#write(samples);
    for (const isSpeech of this.#options.voiceActivity.process(samples))
      this.#onWindow(isSpeech && (isCaller || this.#tracker.state !== "quiet"));
    const keptMs = this.#turn
      ? JUDGED_AUDIO_MS
      : this.#options.limits.preRollMs + this.#options.limits.startMs + 100;
    this.#history.dropBefore(this.#history.end - samplesIn(keptMs, this.#sampleRateHz));
  }

  #write(samples: Int16Array): void {
    if (this.#turn) this.#turn.writtenSamples += samples.length;
    try {
      this.#options.stt.write({ samples, sampleRateHz: this.#sampleRateHz });
    } catch (error) {
      this.#options.failed(error);
    }
  }

  #onWindow(isSpeech: boolean): void {
    const change = this.#tracker.window(isSpeech);
    switch (change) {
      case "started":
        this.#begin();
        break;
      case "resumed":
        this.#onResume();
        break;
      case "paused":
        this.#onPause();
        break;
      case undefined:
        break;
      default:
        change satisfies never;
    }
    // Long speech is judged by its length, whether or not its words are known.
    if (this.#turn && isSpeech && this.#tracker.state === "speaking") this.#tell(this.#turn, false);
    if (this.#tracker.state === "paused" && !isSpeech) this.#pauseMs = this.#tracker.silenceMs;
    if (
      this.#turn &&
      this.#turn.writtenSamples >= samplesIn(this.#options.limits.maxStretchMs, this.#sampleRateHz)
    )
      this.#flush();
    this.#endIfOver();
  }

  #begin(): void {
    this.#turn = {
      texts: [],
      partial: "",
      waitingFor: 0,
      understoodAtMs: 0,
      writtenSamples: 0,
      pausedAt: undefined,
      neededMs: undefined,
      pauses: 0,
    };
    const sinceMs = this.#options.nowMs() - this.#lastEndedAtMs - this.#options.limits.startMs;
    if (sinceMs < WRONG_END_MS && !this.#options.botWasHeard())
      this.#options.endOfTurn.spokeOn?.(Math.max(0, sinceMs) + this.#silenceBeforeEndMs);
    const from =
      this.#history.end -
      samplesIn(this.#options.limits.preRollMs + this.#options.limits.startMs, this.#sampleRateHz);
    this.#write(this.#history.slice(Math.max(this.#history.start, from), this.#history.end));
    this.#options.started();
  }

  #onPause(): void {
    if (!this.#turn) return;
    this.#turn.pausedAt = this.#history.end;
    this.#flush();
    try {
      this.#options.endOfTurn.paused?.(this.#whatWasHeard());
    } catch (error) {
      this.#options.failed(error);
    }
  }

  #whatWasHeard(): Omit<TurnPause, "text"> {
    const samples = this.#history.slice(this.#history.start, this.#history.end);
    return { speechMs: this.#tracker.speechMs, audio: { samples, sampleRateHz: this.#sampleRateHz } };
  }

  /** A failing detector of turn ends must not keep the bot silent for good. */
  async #judge(text: string): Promise<number> {
    try {
      return await this.#options.endOfTurn.silenceMs({ text, ...this.#whatWasHeard() });
    } catch (error) {
      this.#options.failed(error);
      return UNJUDGED_MS;
    }
  }

  #onResume(): void {
    if (!this.#turn) return;
    const from = this.#turn.pausedAt ?? this.#history.end;
    this.#turn.neededMs = undefined;
    this.#turn.pausedAt = undefined;
    this.#write(this.#history.slice(from, this.#history.end));
    this.#options.endOfTurn.spokeOn?.(this.#pauseMs);
  }

  /** Requests the text of the speech since the last flush. */
  #flush(): void {
    const current = this.#turn;
    if (!current) return;
    current.pauses += 1;
    current.writtenSamples = 0;
    const at = current.texts.length;
    current.texts.push("");
    current.waitingFor += 1;
    (async () => this.#options.stt.flush())()
      .catch((error: unknown) => {
        if (!this.#options.signal.aborted && !(error instanceof ServiceFailure)) this.#options.failed(error);
        return "";
      })
      .then((text) => this.#onText(current, at, text))
      .catch((error: unknown) => this.#options.failed(error));
  }

  async #onText(current: Turn, at: number, text: string): Promise<void> {
    current.texts[at] = text.trim();
    current.partial = "";
    current.waitingFor -= 1;
    current.understoodAtMs = this.#options.nowMs();
    if (this.#turn !== current || this.#isStopped) return;
    const isPause = this.#tracker.state === "paused" && current.waitingFor === 0;
    this.#tell(current, isPause);
    if (!isPause || this.#turn !== current) return;
    const { pauses } = current;
    const neededMs = await this.#judge(this.#textOf(current));
    // The user may have continued meanwhile.
    if (current.pauses !== pauses || this.#tracker.state !== "paused") return;
    current.neededMs = neededMs;
    this.#endIfOver();
  }

  #endIfOver(): void {
    if (
      !this.#turn ||
      this.#turn.neededMs === undefined ||
      this.#turn.waitingFor > 0 ||
      this.#tracker.state !== "paused"
    )
      return;
    if (this.#tracker.silenceMs >= this.#turn.neededMs) this.#end(this.#turn);
  }

  #end(over: Turn): void {
    const decidedAtMs = this.#options.nowMs();
    const { silenceMs, speechMs } = this.#tracker;
    this.#turn = undefined;
    this.#tracker.end();
    this.#lastEndedAtMs = decidedAtMs;
    this.#silenceBeforeEndMs = silenceMs;
    this.#options.ended({
      text: this.#textOf(over),
      speechMs,
      speechEndedAtMs: this.#lastFrameAtMs - silenceMs,
      understoodAtMs: over.understoodAtMs,
      decidedAtMs,
    });
  }

  #tell(current: Turn, isPause: boolean): void {
    this.#options.understood({ text: this.#textOf(current), isPause, speechMs: this.#tracker.speechMs });
  }

  #textOf(current: Turn): string {
    return [...current.texts, current.partial].filter((text) => text !== "").join(" ");
  }

  async #run(): Promise<void> {
    try {
      for (
        let next = await this.#frames.next();
        !this.#isStopped && !next.done;
        next = await this.#frames.next()
      )
        this.#take(next.value);
    } finally {
      clearInterval(this.#watch);
      this.#isStopped = true;
      void Promise.resolve(this.#frames.return?.()).catch(() => undefined);
    }
  }
}
