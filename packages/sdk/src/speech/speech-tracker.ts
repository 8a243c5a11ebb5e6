/** Detects where speech starts, pauses and resumes, from a sequence of windows. */
export function createSpeechTracker(options: SpeechTrackerOptions): SpeechTracker {
  const { windowMs } = options;
  const startWindows = Math.max(1, Math.round(options.startMs / windowMs));
  const resumeWindows = Math.max(1, Math.round(options.resumeMs / windowMs));
  let state: SpeechState = "quiet";
  let run = 0; // windows of speech without a gap
  let silenceMs = 0;
  let speechMs = 0;

  function move(to: SpeechState, change: SpeechChange): SpeechChange {
    state = to;
    return change;
  }

  return {
    window(isSpeech) {
      run = isSpeech ? run + 1 : 0;
      silenceMs = isSpeech ? 0 : silenceMs + windowMs;
      if (isSpeech && state !== "quiet") speechMs += windowMs;
      switch (state) {
        case "quiet":
          if (run < startWindows) return undefined;
          speechMs = run * windowMs;
          return move("speaking", "started");
        case "speaking":
          return silenceMs >= options.stopMs ? move("paused", "paused") : undefined;
        case "paused":
          return run >= resumeWindows ? move("speaking", "resumed") : undefined;
        default:
          return state satisfies never;
      }
    },
    end() {
      state = "quiet";
      run = 0;
    },
    get state() {
      return state;
    },
    get silenceMs() {
      return silenceMs;
    },
    get speechMs() {
      return speechMs;
    },
  };
}

export interface SpeechTrackerOptions {
  windowMs: number;
  /** Speech that opens a turn. */
  startMs: number;
  /** Silence that is a pause. */
  stopMs: number;
  /** Speech that ends a pause. */
  resumeMs: number;
}

export type SpeechState = "quiet" | "speaking" | "paused";
export type SpeechChange = "started" | "paused" | "resumed";

export interface SpeechTracker {
  window(isSpeech: boolean): SpeechChange | undefined;
  /** Ends the turn: further speech opens another. */
  end(): void;
  readonly state: SpeechState;
  /** Since the last speech. */
  readonly silenceMs: number;
  /** Speech of this turn, without its pauses. */
  readonly speechMs: number;
}
