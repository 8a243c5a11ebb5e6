import type { RtviMessage } from "@vocalhost/protocol";
import type { Problem } from "./problem.ts";

/** Steps between pressing the button and the bot being ready, in order. */
export const connectSteps = ["microphone", "start", "connect", "bot"] as const;
export type ConnectStep = (typeof connectSteps)[number];

export type EndedBy = "you" | "bot";
export type Speaker = "user" | "bot";

/** Everything that happens to a connection. Each view of the page is a fold over these. */
export type ConnectionEvent = { atMs: number } & (
  | { type: "session-requested"; transport: string; microphone: boolean }
  | { type: "step-reached"; step: ConnectStep }
  | { type: "bot-ready"; version: string; library?: string }
  | { type: "message-received"; message: ReceivedMessage }
  | { type: "message-sent"; message: ReceivedMessage }
  | { type: "user-quiet" }
  | { type: "bot-heard" }
  | { type: "call-connected" }
  | { type: "speech-start"; who: Speaker }
  | { type: "speech-end"; who: Speaker }
  | { type: "key-pressed"; key: string }
  | { type: "mark-reached"; name: string }
  | { type: "audio-cleared"; droppedMs: number }
  | { type: "violation-found"; code: string; detail: string }
  | { type: "attendees-changed"; attendees: Attendee[] }
  | { type: "session-known"; sessionId: string }
  | { type: "microphone-muted" }
  | { type: "microphone-unmuted" }
  | { type: "link-interrupted" }
  | { type: "link-restored" }
  | { type: "notice-raised"; text: string }
  | { type: "session-ending" }
  | { type: "session-ended"; by: EndedBy }
  | { type: "session-failed"; problem: Problem }
  | { type: "runner-found" }
);

/** A participant of a room, this page included. */
export interface Attendee {
  identity: string;
  name: string;
  kind: "you" | "bot" | "person";
  isSpeaking: boolean;
}

export type ReceivedMessage = Pick<RtviMessage, "type" | "data"> & { id?: string };

type WithoutTime<E> = E extends unknown ? Omit<E, "atMs"> : never;
/** An event as it is reported; the time is added where events are collected. */
export type ConnectionReport = WithoutTime<ConnectionEvent>;
