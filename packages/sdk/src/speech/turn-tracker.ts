/** Decides where turns begin and end, from a sequence of windows. */
export function createTurnTracker(options: TurnTrackerOptions): TurnTracker {
  const { windowMs, preRollMs } = options;
  const startWindows = Math.max(1, Math.round(options.startMs / windowMs));
  let state: TurnState = { name: "quiet", speechWindows: 0 };
  let nowMs = 0;
  let usedUntilMs = 0; // turns do not overlap

  function audioStartMs(speechWindows: number): number {
    return Math.max(usedUntilMs, nowMs - speechWindows * windowMs - preRollMs);
  }

  function whileQuiet(quiet: QuietState, isSpeech: boolean): TurnDecision | undefined {
    quiet.speechWindows = isSpeech ? quiet.speechWindows + 1 : 0;
    if (quiet.speechWindows < startWindows) return undefined;
    state = {
      name: "speaking",
      audioStartMs: audioStartMs(quiet.speechWindows),
      speechStartMs: nowMs - quiet.speechWindows * windowMs,
      speechEndMs: nowMs,
    };
    return { type: "start" };
  }

  function whileSpeaking(turn: SpeakingState, isSpeech: boolean): TurnDecision | undefined {
    if (isSpeech) turn.speechEndMs = nowMs;
    const longestEndMs = turn.audioStartMs + options.maxTurnMs;
    if (nowMs >= longestEndMs) return end(turn, longestEndMs, "max-length");
    const silenceMs = nowMs - turn.speechEndMs;
    if (silenceMs < options.endSilenceMs) return undefined;
    return end(turn, turn.speechEndMs + Math.min(silenceMs, TRAILING_SILENCE_MS), "silence");
  }

  function end(turn: SpeakingState, audioEndMs: number, reason: TurnEndReason): TurnDecision {
    state = { name: "quiet", speechWindows: 0 };
    usedUntilMs = audioEndMs;
    const speechMs = Math.min(turn.speechEndMs, audioEndMs) - turn.speechStartMs;
    return { type: "end", audioStartMs: turn.audioStartMs, audioEndMs, speechMs, reason };
  }

  return {
    window(isSpeech, isCaller = true) {
      nowMs += windowMs;
      return state.name === "quiet"
        ? whileQuiet(state, isSpeech && isCaller)
        : whileSpeaking(state, isSpeech);
    },
    get keepFromMs() {
      return state.name === "quiet" ? audioStartMs(state.speechWindows) : state.audioStartMs;
    },
  };
}

export interface TurnTrackerOptions extends TurnLimits {
  windowMs: number;
}

export interface TurnLimits {
  startMs: number;
  endSilenceMs: number;
  preRollMs: number;
  maxTurnMs: number;
}

/** All times are since the beginning of the stream. */
export interface TurnTracker {
  /** A turn is opened by the caller alone; once open, any speech goes on with it. @default isCaller true */
  window(isSpeech: boolean, isCaller?: boolean): TurnDecision | undefined;
  /** Audio before this is no longer needed. */
  readonly keepFromMs: number;
}

export type TurnDecision =
  | { type: "start" }
  | {
      type: "end";
      audioStartMs: number;
      audioEndMs: number;
      speechMs: number;
      reason: TurnEndReason;
    };

export type TurnEndReason = "silence" | "max-length";

type TurnState = QuietState | SpeakingState;

interface QuietState {
  name: "quiet";
  speechWindows: number;
}

interface SpeakingState {
  name: "speaking";
  audioStartMs: number;
  speechStartMs: number;
  speechEndMs: number;
}

const TRAILING_SILENCE_MS = 200; // last consonants are quiet; more only makes transcription slower
