import type { AnswerElement } from "./answer-element.ts";
import type { CallDetails, CallIds, Carrier } from "./carrier.ts";

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

export type Parameters = Readonly<Record<string, string>>;

export interface ChosenEncoding {
  codec: string;
  sampleRateHz: number;
}

/** What a webhook told the carrier to do with the call. */
export interface StreamTold<Options extends object = object> {
  url: string;
  parameters: Record<string, string>;
  options: Options;
  /** What a person should know: odd, but not wrong enough to stop. */
  remarks: string[];
}
