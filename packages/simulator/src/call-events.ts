import type { Violation } from "./carriers/bot-message.ts";

/** What happens during a call, as it happens. `atMs` counts from dialling. */
export type CallEvent = { atMs: number } & (
  | { type: "call-connected" }
  | { type: "caller-speech-start" }
  | { type: "caller-speech-end" }
  | { type: "bot-speech-start" }
  | { type: "bot-speech-end" }
  /** Audio of the bot, which the caller will hear from `playsAtMs` on unless it is cleared. */
  | { type: "audio-queued"; samples: Int16Array; playsAtMs: number }
  | { type: "audio-cleared"; droppedMs: number }
  | { type: "mark-received"; name: string }
  | { type: "mark-reached"; name: string }
  | { type: "digit-pressed"; digit: string }
  | { type: "message-sent"; text: string }
  | { type: "message-received"; text: string }
  | { type: "violation-found"; violation: Violation }
  | { type: "call-ended"; outcome: CallOutcome }
);

export type CallOutcome =
  | { type: "hung-up"; by: "caller"; reason: HangUpReason }
  | { type: "hung-up"; by: "bot"; code: number }
  /** The connection broke, or the bot's side ended it as a failure. */
  | { type: "dropped"; code: number; reason: string }
  | { type: "not-connected"; reason: "refused" | "timed-out" | "aborted"; cause: unknown };

/** Why the caller hung up. */
export type HangUpReason = "asked" | "silence" | "time-up" | "aborted";

type WithoutTime<Event> = Event extends { atMs: number } ? Omit<Event, "atMs"> : never;
export type CallHappening = WithoutTime<CallEvent>;
