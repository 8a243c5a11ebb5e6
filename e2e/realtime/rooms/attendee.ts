import type { Tone } from "../../conformance/tone.ts";

/** A participant of a room through a released client, whatever that client is. */
export interface Attendee {
  readonly identity: string;
  /** Sends a tone as its microphone. Resolves with the track's sid once it is published. */
  speak(): Promise<string>;
  /** The sound of a participant in the last fifth of a second. */
  hear(identity: string): Promise<Tone>;
  /** The tone it speaks with. */
  readonly toneHz: number;
  send(text: string, options: SendOptions): Promise<void>;
  /** Sends that many bytes; resolves with what the client makes of it. */
  sendBytes(size: number): Promise<"sent" | "refused">;
  /** Everything received, oldest first. */
  messages(): Promise<Message[]>;
  /** Events of the client for its application, oldest first. */
  events(): Promise<AttendeeEvent[]>;
  others(): Promise<OtherParticipant[]>;
  /** Identities of those who speak. */
  speakers(): Promise<string[]>;
  ownSid(): Promise<string>;
  setAttribute(name: string, value: string): Promise<void>;
  leave(): Promise<void>;
}

export interface SendOptions {
  reliable: boolean;
  topic?: string;
  to?: string[];
}

export interface Message {
  from: string;
  text: string;
  topic: string;
  reliable: boolean | undefined;
}

export interface AttendeeEvent {
  name: string;
  /** The participant it is about, or the reason of an end. */
  about: string | undefined;
}

export interface OtherParticipant {
  identity: string;
  sid: string;
  metadata: string;
  attributes: Record<string, string>;
  tracks: { sid: string; muted: boolean; subscribed: boolean }[];
}
