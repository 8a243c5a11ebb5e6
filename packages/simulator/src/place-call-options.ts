import type { CallerVoice } from "./caller/conversation.ts";
import type { Violation } from "./carriers/bot-message.ts";
import type { Carrier } from "./carriers/carrier.ts";
import type { Clock } from "./clock.ts";

export interface PlaceCallOptions {
  carrier: Carrier;
  /** Opens the bot's address; called once, at once. */
  openSocket: () => CallSocket;
  /** The caller's voice, at the rate of `carrier.uplink`. */
  voice: CallerVoice;
  /** Sound around the caller: sent with the voice, but not counted as speech. @default none */
  surroundings?: ((samples: number) => Int16Array) | undefined;
  onEvent?: (event: CallEvent) => void;
  /** Hang up when voice and bot have been quiet this long. @default never */
  hangUpAfterSilenceMs?: number | undefined;
  /** Longest call, and the end of every recording. @default 3_600_000 */
  maxCallMs?: number | undefined;
  /** @default 10_000 */
  connectTimeoutMs?: number | undefined;
  /** Sound of the caller comes up to this much late. @default 0 */
  jitterMs?: number | undefined;
  /** Share of the caller's audio that is lost on its way to the bot. @default 0 */
  lossPercent?: number | undefined;
  /** Seed of jitter and loss. @default 1 */
  seed?: number | undefined;
  /** Hangs up when it aborts. */
  signal?: AbortSignal | undefined;
  /** @default the system's */
  clock?: Clock | undefined;
}

/** An event of a call. `atMs` counts from dialling. */
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

/** The part of a WebSocket a call needs; the browser's and that of `ws` both have it. */
export interface CallSocket {
  readonly readyState: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { code: number; reason: string }) => void): void;
  addEventListener(type: "error", listener: (event: object) => void): void;
}

export const SOCKET_OPEN = 1;

/** With the WebSocket of the browser, which sends no headers of ours. */
export function openWebSocket(url: string): CallSocket {
  return new WebSocket(url);
}
