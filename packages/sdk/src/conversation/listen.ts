import { samplesIn, type AudioFrame } from "@vocalhost/audio";
import type { EndOfTurn, TurnPause } from "../speech/end-of-turn.ts";
import { createSampleHistory } from "../speech/sample-history.ts";
import { createSpeechTracker, type SpeechTracker } from "../speech/speech-tracker.ts";
import type { VoiceActivity } from "../speech/voice-activity.ts";
import { ServiceFailure } from "./service-failure.ts";
import type { AudioInput } from "../transports/transport.ts";
import type { SpeechToTextStream } from "./services.ts";

/** Follows what the user says: where turns begin, what is in them, when they are over. */
export interface Listening {
  /** Resolves when there is nothing more to hear. */
  readonly ended: Promise<void>;
  /** Text of the turn that goes on, as far as it is understood. */
  partial(text: string): void;
  /** Speech of the turn that goes on. */
  readonly speechMs: number;
  /** When the speech ended whose words are not known yet, by `nowMs`; undefined when there is none, or it goes on. */
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
  /** Something of the turn was understood; `isPause` when the user has stopped and it will not change any more. */
  understood(turn: { text: string; isPause: boolean; speechMs: number }): void;
  ended(turn: UserTurn): void;
  /** Whether anything of the bot was heard since the last turn ended: who speaks then may mean to interrupt. */
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
  /** When the last speech was heard, by `nowMs`. */
  speechEndedAtMs: number;
  /** When its text was known. */
  understoodAtMs: number;
  /** When it was taken to be over. */
  decidedAtMs: number;
}

interface Turn {
  /** Texts of the stretches between pauses, in order. */
  texts: string[];
  partial: string;
  /** Stretches whose text is not known yet. */
  waitingFor: number;
  understoodAtMs: number;
  /** Written since the last flush. */
  writtenSamples: number;
  /** Where the pause began that goes on. */
  pausedAt: number | undefined;
  /** Silence that ends it; undefined until it is known for this pause. */
  neededMs: number | undefined;
  pauses: number;
}

const RESUME_MS = 64;
const NO_FRAMES_MS = 1_000; // who sends nothing for so long is muted; less is the network's doing
const NO_FRAMES_IN_SPEECH_MS = 2_000; // nobody mutes themselves within a word
const WATCH_MS = 200;
const JUDGED_AUDIO_MS = 8_000;
const UNJUDGED_MS = 700;
const WRONG_END_MS = 1_200; // who speaks again so soon had not finished

export function listen(options: ListenOptions): Listening {
  const { audioIn, voiceActivity, limits } = options;
  const { sampleRateHz } = audioIn;
  const tracker: SpeechTracker = createSpeechTracker({
    windowMs: voiceActivity.windowMs,
    startMs: limits.startMs,
    stopMs: limits.stopMs,
    resumeMs: RESUME_MS,
  });
  const history = createSampleHistory();
  const frames = audioIn[Symbol.asyncIterator]();
  let turn: Turn | undefined;
  let lastFrameAtMs = options.nowMs();
  let looksInVain = 0;
  let pauseMs = 0;
  let lastEndedAtMs = Number.NEGATIVE_INFINITY;
  let silenceBeforeEndMs = 0;
  let isStopped = false;

  function take({ samples }: AudioFrame): void {
    lastFrameAtMs = options.nowMs();
    looksInVain = 0;
    process(samples);
  }

  function process(samples: Int16Array): void {
    history.push(samples);
    // The first of a turn are written with what came before them.
    if (turn && turn.pausedAt === undefined) write(samples);
    for (const isSpeech of voiceActivity.process(samples)) onWindow(isSpeech);
    const keptMs = turn ? JUDGED_AUDIO_MS : limits.preRollMs + limits.startMs + 100;
    history.dropBefore(history.end - samplesIn(keptMs, sampleRateHz));
  }

  function write(samples: Int16Array): void {
    if (turn) turn.writtenSamples += samples.length;
    try {
      options.stt.write({ samples, sampleRateHz });
    } catch (error) {
      options.failed(error);
    }
  }

  function onWindow(isSpeech: boolean): void {
    const change = tracker.window(isSpeech);
    switch (change) {
      case "started":
        begin();
        break;
      case "resumed":
        onResume();
        break;
      case "paused":
        onPause();
        break;
      case undefined:
        break;
      default:
        change satisfies never;
    }
    // Who speaks for long is judged by that, whether or not words are known.
    if (turn && isSpeech && tracker.state === "speaking") tell(turn, false);
    if (tracker.state === "paused" && !isSpeech) pauseMs = tracker.silenceMs;
    if (turn && turn.writtenSamples >= samplesIn(limits.maxStretchMs, sampleRateHz)) flush();
    endIfOver();
  }

  function begin(): void {
    turn = {
      texts: [],
      partial: "",
      waitingFor: 0,
      understoodAtMs: 0,
      writtenSamples: 0,
      pausedAt: undefined,
      neededMs: undefined,
      pauses: 0,
    };
    const sinceMs = options.nowMs() - lastEndedAtMs - limits.startMs;
    if (sinceMs < WRONG_END_MS && !options.botWasHeard())
      options.endOfTurn.spokeOn?.(Math.max(0, sinceMs) + silenceBeforeEndMs);
    const from = history.end - samplesIn(limits.preRollMs + limits.startMs, sampleRateHz);
    write(history.slice(Math.max(history.start, from), history.end));
    options.started();
  }

  function onPause(): void {
    if (!turn) return;
    turn.pausedAt = history.end;
    flush();
    try {
      options.endOfTurn.paused?.(whatWasHeard());
    } catch (error) {
      options.failed(error);
    }
  }

  function whatWasHeard(): Omit<TurnPause, "text"> {
    const samples = history.slice(history.start, history.end);
    return { speechMs: tracker.speechMs, audio: { samples, sampleRateHz } };
  }

  /** A judge that fails must not keep the bot silent for good. */
  async function judge(text: string): Promise<number> {
    try {
      return await options.endOfTurn.silenceMs({ text, ...whatWasHeard() });
    } catch (error) {
      options.failed(error);
      return UNJUDGED_MS;
    }
  }

  function onResume(): void {
    if (!turn) return;
    const from = turn.pausedAt ?? history.end;
    turn.neededMs = undefined;
    turn.pausedAt = undefined;
    write(history.slice(from, history.end));
    options.endOfTurn.spokeOn?.(pauseMs);
  }

  /** Asks for the text of what was said since the last time. */
  function flush(): void {
    const current = turn;
    if (!current) return;
    current.pauses += 1;
    current.writtenSamples = 0;
    const at = current.texts.length;
    current.texts.push("");
    current.waitingFor += 1;
    (async () => options.stt.flush())()
      .catch((error: unknown) => {
        if (!options.signal.aborted && !(error instanceof ServiceFailure)) options.failed(error);
        return "";
      })
      .then((text) => onText(current, at, text))
      .catch((error: unknown) => options.failed(error));
  }

  async function onText(current: Turn, at: number, text: string): Promise<void> {
    current.texts[at] = text.trim();
    current.partial = "";
    current.waitingFor -= 1;
    current.understoodAtMs = options.nowMs();
    if (turn !== current || isStopped) return;
    const isPause = tracker.state === "paused" && current.waitingFor === 0;
    tell(current, isPause);
    if (!isPause || turn !== current) return;
    const { pauses } = current;
    const neededMs = await judge(textOf(current));
    // The user may have spoken on meanwhile.
    if (current.pauses !== pauses || tracker.state !== "paused") return;
    current.neededMs = neededMs;
    endIfOver();
  }

  function endIfOver(): void {
    if (!turn || turn.neededMs === undefined || turn.waitingFor > 0 || tracker.state !== "paused") return;
    if (tracker.silenceMs >= turn.neededMs) end(turn);
  }

  function end(over: Turn): void {
    const decidedAtMs = options.nowMs();
    const { silenceMs, speechMs } = tracker;
    turn = undefined;
    tracker.end();
    lastEndedAtMs = decidedAtMs;
    silenceBeforeEndMs = silenceMs;
    options.ended({
      text: textOf(over),
      speechMs,
      speechEndedAtMs: lastFrameAtMs - silenceMs,
      understoodAtMs: over.understoodAtMs,
      decidedAtMs,
    });
  }

  function tell(current: Turn, isPause: boolean): void {
    options.understood({ text: textOf(current), isPause, speechMs: tracker.speechMs });
  }

  function textOf(current: Turn): string {
    return [...current.texts, current.partial].filter((text) => text !== "").join(" ");
  }

  // Counted in looks, not by the clock: after a stall of our own, frames are waiting that were sent meanwhile.
  const watch = setInterval(() => {
    looksInVain += 1;
    const patienceMs = tracker.silenceMs === 0 ? NO_FRAMES_IN_SPEECH_MS : NO_FRAMES_MS;
    if (turn && looksInVain > patienceMs / WATCH_MS)
      process(new Int16Array(samplesIn(WATCH_MS, sampleRateHz)));
  }, WATCH_MS);

  async function run(): Promise<void> {
    try {
      for (let next = await frames.next(); !isStopped && !next.done; next = await frames.next())
        take(next.value);
    } finally {
      clearInterval(watch);
      isStopped = true;
      void Promise.resolve(frames.return?.()).catch(() => undefined);
    }
  }

  return {
    ended: run(),
    partial(text) {
      if (!turn || isStopped) return;
      turn.partial = text.trim();
      tell(turn, false);
    },
    get speechMs() {
      return tracker.speechMs;
    },
    get waitsSinceMs() {
      if (!turn || turn.waitingFor === 0 || tracker.state !== "paused") return undefined;
      return lastFrameAtMs - tracker.silenceMs;
    },
    stop() {
      isStopped = true;
      clearInterval(watch);
      void Promise.resolve(frames.return?.()).catch(() => undefined);
    },
  };
}
