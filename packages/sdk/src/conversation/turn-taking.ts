import { meaningfulWords } from "../speech/back-channels.ts";
import type { UserTurn } from "./listen.ts";

/** State of a conversation's turn-taking. It changes only through `nextTurnTaking`. */
export interface TurnTaking {
  /** How the bot's current exchange takes speech of the user; "silent" when there is no exchange. */
  readonly bot: "silent" | "interruptible" | "uninterruptible" | "apologising" | "interrupted";
  readonly user: "quiet" | "speaking";
  /** Whether the user's current speech began while the bot could be interrupted. */
  readonly mayInterrupt: boolean;
  /** Playback is paused until it is known whether the user wants to interrupt. */
  readonly isPaused: boolean;
  /** Whether any sound of the bot was heard since the user's last turn. */
  readonly botWasHeard: boolean;
  /** Text of the user's speech that the client has been shown. */
  readonly shownText: string;
  /** A turn to be answered once the current exchange is over. */
  readonly queued: UserTurn | undefined;
}

export type TurnEvent =
  | { type: "bot-began"; as: "interruptible" | "uninterruptible" | "apologising" }
  | { type: "bot-heard" }
  | { type: "bot-interrupted" }
  | { type: "bot-finished" }
  | { type: "user-started"; remainingMs: number }
  | { type: "user-understood"; speech: BargeInSpeech }
  | { type: "user-stopped" }
  | { type: "turn-complete"; turn: UserTurn }
  | { type: "queue-due" };

export type TurnEffect =
  | { type: "pause" }
  | { type: "resume" }
  | { type: "interrupt" }
  | { type: "show-partial"; text: string }
  | { type: "report-false-interruption"; text: string }
  | { type: "answer"; turn: UserTurn };

export interface InterruptionOptions {
  /** Speech shorter than this interrupts nothing. @default 200 */
  minSpeechMs?: number;
  /** Number of words, not counting back-channels, that make an interruption. @default 1 */
  minWords?: number;
  /** Speech of this length interrupts even if its words are not known yet. @default 1000 */
  certainMs?: number;
  /** Words by which a listener means "go on"; these alone interrupt nothing. @default `backChannels` */
  backChannels?: readonly string[];
}

export interface BargeInSpeech {
  text: string;
  speechMs: number;
  /** The speaker has stopped, and the text is complete. */
  isPause: boolean;
}

export type BargeIn = "interrupts" | "goes-on" | "not-yet-known";

export const INITIAL_TURN_TAKING: TurnTaking = {
  bot: "silent",
  user: "quiet",
  mayInterrupt: false,
  isPaused: false,
  botWasHeard: false,
  shownText: "",
  queued: undefined,
};

const LAST_WORDS_MS = 800; // speech over the end of an answer is a reply, not an interruption

/** Decides who speaks next. `interruptions` are the rules for speech over the bot's; false: nothing interrupts it. */
export function nextTurnTaking(
  state: TurnTaking,
  event: TurnEvent,
  interruptions: false | InterruptionOptions,
): [TurnTaking, TurnEffect[]] {
  switch (event.type) {
    case "bot-began": {
      // Speech that has already begun is judged like one that began during this exchange.
      const mayInterrupt = state.user === "speaking" && event.as === "interruptible";
      const began = { ...state, bot: event.as, mayInterrupt };
      return mayInterrupt ? paused(began) : [began, []];
    }
    case "bot-heard":
      return [{ ...state, botWasHeard: true }, []];
    case "bot-interrupted":
      return interrupted(state);
    case "bot-finished":
      return [{ ...state, bot: "silent", isPaused: false }, state.isPaused ? [{ type: "resume" }] : []];
    case "user-started": {
      const mayInterrupt = state.bot === "interruptible" && event.remainingMs > LAST_WORDS_MS;
      const started = { ...state, user: "speaking" as const, shownText: "", mayInterrupt };
      return mayInterrupt ? paused(started) : [started, []];
    }
    case "user-understood":
      return understood(state, event.speech, interruptions);
    case "user-stopped":
      return [{ ...state, user: "quiet", botWasHeard: false }, []];
    case "turn-complete":
      return completed(state, event.turn);
    case "queue-due":
      return state.queued ? answered({ ...state, queued: undefined }, state.queued) : [state, []];
    default:
      return event satisfies never;
  }
}

/** Judges whether speech over the bot's is meant to stop it. */
export function judgeBargeIn(speech: BargeInSpeech, options: InterruptionOptions): BargeIn {
  const { minSpeechMs = 200, minWords = 1, certainMs = 1_000 } = options;
  const words = meaningfulWords(speech.text, options.backChannels);
  const isLongEnough = speech.speechMs >= minSpeechMs;
  if (isLongEnough && words >= minWords) return "interrupts";
  if (speech.isPause) return "goes-on";
  return speech.text === "" && speech.speechMs >= certainMs ? "interrupts" : "not-yet-known";
}

function paused(state: TurnTaking): [TurnTaking, TurnEffect[]] {
  return state.isPaused ? [state, []] : [{ ...state, isPaused: true }, [{ type: "pause" }]];
}

function interrupted(state: TurnTaking): [TurnTaking, TurnEffect[]] {
  if (state.bot === "silent" || state.bot === "interrupted") return [state, []];
  return [{ ...state, bot: "interrupted", isPaused: false }, [{ type: "interrupt" }]];
}

function understood(
  state: TurnTaking,
  speech: BargeInSpeech,
  interruptions: false | InterruptionOptions,
): [TurnTaking, TurnEffect[]] {
  const isNew = speech.text !== "" && speech.text !== state.shownText;
  const shown: TurnEffect[] = isNew ? [{ type: "show-partial", text: speech.text }] : [];
  const current = isNew ? { ...state, shownText: speech.text } : state;
  if (!state.mayInterrupt || state.bot !== "interruptible" || interruptions === false)
    return [current, shown];
  const [next, effects] = judged(current, speech, interruptions);
  return [next, [...shown, ...effects]];
}

function judged(
  state: TurnTaking,
  speech: BargeInSpeech,
  interruptions: InterruptionOptions,
): [TurnTaking, TurnEffect[]] {
  const verdict = judgeBargeIn(speech, interruptions);
  switch (verdict) {
    case "interrupts":
      return interrupted(state);
    case "goes-on":
      if (!state.isPaused) return [state, []];
      return [
        { ...state, isPaused: false },
        [{ type: "resume" }, { type: "report-false-interruption", text: speech.text }],
      ];
    case "not-yet-known":
      return paused(state);
    default:
      return verdict satisfies never;
  }
}

function completed(state: TurnTaking, turn: UserTurn): [TurnTaking, TurnEffect[]] {
  const isBotTalking = state.bot !== "silent" && state.bot !== "interrupted";
  // Speech that was judged to be no interruption, or only means "go on", gets no answer.
  if (isBotTalking && state.mayInterrupt) return [state, []];
  if (state.bot === "uninterruptible" && meaningfulWords(turn.text) === 0) return [state, []];
  return answered(state, turn);
}

function answered(state: TurnTaking, turn: UserTurn): [TurnTaking, TurnEffect[]] {
  if (state.bot === "silent") return [state, [{ type: "answer", turn }]];
  const text = state.queued ? `${state.queued.text} ${turn.text}` : turn.text;
  return [{ ...state, queued: { ...turn, text } }, []];
}
