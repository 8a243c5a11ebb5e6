import { samplesIn } from "@vocalhost/audio";
import { createSampleHistory } from "../speech/sample-history.ts";
import { createSpeechTracker } from "../speech/speech-tracker.ts";
import type { VoiceActivity } from "../speech/voice-activity.ts";

/** What a model that hears itself has been told or asked, and has not answered yet. */
export interface Unanswered {
  /** The caller's sound, as it comes and as the model is given it. */
  hear(samples: Int16Array, forModel: Int16Array): void;
  /** The model says that it heard somebody, which settles doubts. */
  heardByModel(): void;
  /** The words of what was said are known: its sound is not needed any more. */
  understood(): void;
  /** The bot asks for an answer, or for these words. */
  ask(say?: string): void;
  /** The bot says something: what was asked is answered. */
  answering(): void;
  /** Nothing of it is to be answered any more. */
  clear(): void;
  readonly isUserSpeaking: boolean;
  /** Since when somebody waits for an answer, by `performance.now()`; undefined while there is nothing, or more is being said. */
  readonly sinceMs: number | undefined;
  /** Speech whose words are not known. */
  readonly sound: Int16Array | undefined;
  readonly asked: { say: string | undefined } | undefined;
  /** Our own ears are the only ones that heard it. */
  readonly isDoubtful: boolean;
}

export interface UnansweredOptions {
  voiceActivity: VoiceActivity;
  /** Of what the model is given. */
  modelRateHz: number;
  limitMs: number;
  botIsHeard(): boolean;
  /** Somebody begins to speak. */
  started(): void;
}

const START_MS = 160; // of speech
const STOP_MS = 200;
const RESUME_MS = 64;
const PRE_ROLL_MS = 300;
const CERTAIN_MS = 1_000; // who says "mm-hmm" while the bot speaks wants no answer
const OVER_MS = 700;
const KEPT_MS = 60_000;

export function createUnanswered(options: UnansweredOptions): Unanswered {
  const { voiceActivity, modelRateHz, limitMs } = options;
  const { windowMs } = voiceActivity;
  const tracker = createSpeechTracker({
    windowMs,
    startMs: START_MS,
    stopMs: STOP_MS,
    resumeMs: RESUME_MS,
  });
  const history = createSampleHistory();
  let from: number | undefined; // where the speech begins that waits for an answer
  let beganAt = 0; // where the last speech began
  let beganOverBot = false;
  let lastSpeechAtMs = Number.NEGATIVE_INFINITY;
  let asked: { say: string | undefined; atMs: number } | undefined;
  let isDoubtful = true;

  function onWindow(isSpeech: boolean): void {
    const change = tracker.window(isSpeech);
    if (change === "started") {
      beganOverBot = options.botIsHeard();
      options.started();
    }
    if (change === "started" || change === "resumed")
      beganAt = Math.max(history.start, history.end - samplesIn(PRE_ROLL_MS + START_MS, modelRateHz));
    if (tracker.state === "speaking" && isSpeech) {
      lastSpeechAtMs = performance.now();
      if (!beganOverBot || tracker.speechMs >= CERTAIN_MS) from ??= beganAt;
    }
    if (tracker.state === "paused" && from === undefined && tracker.silenceMs >= OVER_MS) tracker.end();
  }

  function isUserSpeaking(): boolean {
    return tracker.state !== "quiet" && performance.now() - lastSpeechAtMs < STOP_MS + windowMs;
  }

  return {
    hear(samples, forModel) {
      history.push(forModel);
      for (const isSpeech of voiceActivity.process(samples)) onWindow(isSpeech);
      const isKept = from !== undefined || tracker.state !== "quiet";
      const keptMs = isKept ? KEPT_MS : PRE_ROLL_MS + START_MS + 100;
      history.dropBefore(history.end - samplesIn(keptMs, modelRateHz));
    },
    heardByModel() {
      isDoubtful = false;
      if (from !== undefined) return;
      from = tracker.state === "quiet" ? history.start : beganAt;
      lastSpeechAtMs = performance.now();
    },
    understood() {
      if (from === undefined) return;
      asked ??= { say: undefined, atMs: lastSpeechAtMs + limitMs / 8 };
      from = isUserSpeaking() ? beganAt : undefined;
    },
    ask: (say) => void (asked = { say, atMs: asked?.atMs ?? performance.now() }),
    answering: () => void (asked = undefined),
    clear() {
      from = undefined;
      asked = undefined;
      isDoubtful = true;
      if (tracker.state === "paused") tracker.end();
    },
    get isUserSpeaking() {
      return isUserSpeaking();
    },
    get sinceMs() {
      if (isUserSpeaking()) return undefined;
      // Thinking about whether the caller has finished is no more than this.
      const spokenAtMs = from === undefined ? undefined : lastSpeechAtMs + limitMs / 8;
      return asked && spokenAtMs !== undefined
        ? Math.min(asked.atMs, spokenAtMs)
        : (asked?.atMs ?? spokenAtMs);
    },
    get sound() {
      return from === undefined ? undefined : history.slice(from, history.end);
    },
    get asked() {
      return asked;
    },
    get isDoubtful() {
      return isDoubtful && asked === undefined;
    },
  };
}
