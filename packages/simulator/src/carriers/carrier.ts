import type { CarrierName } from "@vocalhost/protocol";
import type { AnswerElement } from "./answer-element.ts";
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
  /** Messages sent as soon as the socket is open. */
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
  /** The reply to a message with violations, at carriers that send one. */
  complaint(message: BotMessage): string | undefined;
}

interface StreamMoment {
  /** Since the stream began. */
  streamMs: number;
  /** Since 1970. */
  epochMs: number;
}

/** Caller, callee, and the ids the carrier gave the call. */
export interface CallDetails {
  ids: CallIds;
  from: string;
  to: string;
  /** Parameters that the set-up of the call passes to the bot: Twilio's `<Parameter>`s, Plivo's `extraHeaders`, … */
  parameters: Readonly<Record<string, string>>;
}

export interface CallIds {
  callId: string;
  streamId: string;
  accountId: string;
  /** Telnyx only: several calls can belong to one session. */
  sessionId: string;
}

/** The other end of one carrier, written from the carrier's documentation and not from our own records. */
export interface SimulatedCarrier<Options extends object = object> {
  /** Ids of the shape the carrier gives them, new for every call. */
  newIds(): CallIds;
  create(details: CallDetails, options: Options): Carrier;
  /** Options for an encoding of the call, and of what the bot sends where that may be another. */
  choose(encoding: ChosenEncoding, botEncoding: ChosenEncoding | undefined): Options;
  /** Whether the bot may send another encoding than it receives. */
  readonly hasBotEncoding?: boolean;
  /** The encoding that the stream's address asks for, where it can. */
  encodingIn?(address: URL): string | undefined;
  /** Why the carrier takes no such parameters; undefined when it does. */
  refusalOf?(parameters: Parameters): string | undefined;
  /** Changes an address to what the carrier would call, and says what a person would not expect of that. */
  dial?(address: URL, parameters: Parameters, options: Options): string | undefined;
  /** Follows the instructions of a webhook. Throws `AnswerError` where the carrier would not understand them. */
  readXml?(root: AnswerElement, planned: Options): StreamTold<Options>;
  /** The same for a carrier whose webhook names the stream in JSON. */
  readJson?(answer: unknown, parameters: Parameters): StreamTold<Options>;
}

type Parameters = Readonly<Record<string, string>>;

interface ChosenEncoding {
  codec: string;
  sampleRateHz: number;
}

/** The webhook's instruction to the carrier. */
interface StreamTold<Options extends object = object> {
  url: string;
  parameters: Record<string, string>;
  options: Options;
  /** Remarks for the developer: oddities that do not stop the call. */
  remarks: string[];
}
