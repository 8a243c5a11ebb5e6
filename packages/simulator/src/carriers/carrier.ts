import type { CarrierName } from "@vocalhost/protocol";
import type { BotMessage } from "./bot-message.ts";
import type { WireFormat } from "./wire-format.ts";

/** One call's media stream as a carrier speaks it: writes its messages, reads the bot's. */
export interface Carrier {
  readonly name: CarrierName;
  /** From the caller to the bot. */
  readonly uplink: WireFormat;
  /** From the bot to the caller. */
  readonly downlink: WireFormat;
  /** How much sound goes into one `media` message. */
  readonly chunkMs: number;
  /** Whether media always arrives in the order it was spoken. */
  readonly keepsOrder: boolean;
  /** Whether marks that wait for audio come back when that audio is cleared; else they are forgotten. */
  readonly returnsClearedMarks: boolean;
  /** What is sent as soon as the socket is open. */
  opening(): string[];
  media(samples: Int16Array, at: StreamMoment): string;
  digit(digit: string, at: StreamMoment): string;
  /** The bot's mark has been reached. */
  marked(name: string): string;
  /** The answer to a clear, at carriers that have one. */
  cleared(): string | undefined;
  /** The last message of a call the caller ends, at carriers that have one. */
  stop(): string | undefined;
  read(text: string): BotMessage;
  /** What is sent back about a message with violations, at carriers that say so. */
  complaint(message: BotMessage): string | undefined;
}

export interface StreamMoment {
  /** Since the stream began. */
  streamMs: number;
  /** Since 1970. */
  epochMs: number;
}

/** Who calls whom, and the ids the carrier gave the call. */
export interface CallDetails {
  ids: CallIds;
  from: string;
  to: string;
  /** What the set-up of the call hands to the bot: Twilio's `<Parameter>`s, Plivo's `extraHeaders`, … */
  parameters: Readonly<Record<string, string>>;
}

export interface CallIds {
  callId: string;
  streamId: string;
  accountId: string;
  /** Telnyx only: several calls can belong to one session. */
  sessionId: string;
}
