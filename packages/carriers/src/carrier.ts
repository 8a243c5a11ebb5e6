import type { SignedRequest } from "./signing.ts";

/** Everything specific to one telephone carrier. Lists, options, forms and servers derive from these records. */
export interface Carrier<A extends Account = Account> {
  /** As it is written in a sentence. */
  readonly title: string;
  /** The sound it can stream; the first is its default. */
  readonly encodings: readonly Encoding[];
  /** Its stream in a few words, beside its name on a page. */
  readonly hint: string;
  readonly account: AccountVariables;
  /** Undefined where the carrier signs nothing. */
  readonly signature: Signature | undefined;
  /** Its stream comes to one address for good, which has no place for a token. */
  readonly hasFixedAddress?: boolean;

  /** Undefined unless the message opens a stream of this carrier. Throws `CarrierError` if we cannot take it. */
  open(message: CarrierMessage, address: URLSearchParams): Stream | undefined;

  /** Places a call. */
  dial(rest: Rest<Required<A>>, order: DialOrder): RestRequest;
  /** The call's id in the answer to `dial`, nothing checked. */
  callIdIn(answer: CarrierMessage): unknown;
  /** True if it can tell a person from an answering machine. */
  readonly detectsMachines: boolean;
  /** Ends a call; undefined: closing its socket is all there is. */
  hangUp?(rest: Rest<A>, callId: string): HangUp;
  /** Transfers the caller to another number. A text says why the carrier has no such request and what to do instead. */
  readonly transfer: string | { request(rest: Rest<A>, callId: string, transfer: Transfer): RestRequest };
  /** The answer to its question what a transferred call is to do, where it asks. */
  transferXml?(to: string, callerId: string | undefined): string;
  /** How keys are pressed for the bot; undefined: by playing their tones. */
  readonly keys?:
    | { over: "socket"; message(keys: string): string }
    | { over: "rest"; request(rest: Rest<A>, callId: string, keys: string): RestRequest };

  /** The fields its webhook is documented to send about a call that comes in. */
  webhookFields(call: WebhookCall): Record<string, string>;
  /** True for the fields of its webhook. */
  asks(fields: URLSearchParams): boolean;
  /** Instructs it to stream the call to us; undefined where it asks for no instructions. */
  answerXml?(stream: StreamAnswer): string;
  /** Tells it the address of our stream, where that is all it asks for. */
  answerJson?(stream: StreamAnswer): Record<string, string>;
  /** Reads from the carrier's webhook who answered a call; undefined when the webhook does not say. */
  answererIn(fields: URLSearchParams): Answerer | undefined;
  /**
   * The parameters with which our answer passes the numbers on, where the stream does not name them by itself. `more` is
   * added by carriers that have room for any text.
   */
  passedOn(numbers: { from: string; to: string }, more?: Record<string, string>): Record<string, string>;
}

interface Encoding {
  readonly codec: string;
  readonly ratesHz: readonly number[];
}

/** Parts of an account at a carrier, as its REST interface needs them. */
export type Account = Readonly<Record<string, string | undefined>>;

/** Environment variables or secrets an account is read from. */
interface AccountVariables {
  /** Parts that hanging up needs; the account counts when all of them are set. */
  readonly parts: Readonly<Record<string, string>>;
  /** Parts that placing a call needs as well. */
  readonly dialling?: Readonly<Record<string, string>>;
  /** The variable with the account's id that its streams name. */
  readonly id?: string;
  /** Where its REST interface is. */
  address(variables: Variables): string;
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** An account, and where it counts. */
export interface Rest<A extends Account = Account> {
  readonly account: A;
  readonly address: string;
}

/** One request to a carrier's REST interface. */
export interface RestRequest {
  url: string;
  method: "POST" | "DELETE";
  headers: Record<string, string>;
  body?: string;
}

interface HangUp extends RestRequest {
  /** Answers that mean the call was over already. */
  isAlreadyOver(status: number, body: string): boolean;
}

export interface DialOrder {
  to: string;
  from: string;
  /** Where the carrier streams the call to. */
  streamUrl: string;
  /** Where it asks what to do with the call once it is answered. */
  answerUrl: string;
  machineDetection?: boolean | undefined;
  ringSecs?: number | undefined;
}

export interface Transfer {
  to: string;
  /** The caller's number that the callee sees. */
  callerId: string | undefined;
  /** Below this the carrier can ask us what to do with the call. Given to carriers that ask. */
  callbackUrl: string;
}

export interface StreamAnswer {
  /** Where the carrier shall stream the call to. */
  url: string;
  from: string | undefined;
  to: string | undefined;
  /** Whether a person or a machine answered a call that we placed. */
  answeredBy?: Answerer | undefined;
}

interface WebhookCall {
  callId: string;
  accountId: string;
  from: string;
  to: string;
}

export interface Signature {
  /** The header it is in. */
  readonly header: string;
  /** The variable with the key that requests are checked with. */
  readonly variable: string;
  /** The variable with the secret that requests are signed with, if that is another. */
  readonly secretVariable?: string;
  /** Whether the stream's upgrade is signed like the webhook. */
  readonly signsUpgrades?: boolean;
  /** Throws when the text is no key, so that a mistyped one shows at start-up. */
  checkKey?(key: string): void;
  verify(request: SignedRequest, key: string): Promise<boolean>;
  /** The headers with which the carrier signs a form, or an upgrade. */
  sign(request: RequestToSign, secret: string): Promise<Record<string, string>>;
  /** The key that checks signatures of this secret, if it is not the secret itself. */
  counterpart?(secret: string): Promise<string>;
}

export interface RequestToSign {
  method: string;
  url: string;
  /** The form as it is sent; empty for an upgrade. */
  form: string;
}

/** One call: what its messages mean and how to say things in them. */
export interface Stream {
  readonly callData: CallData;
  readonly receives: WireFormat;
  readonly sends: WireFormat;
  /** Length of the pieces in which the bot's audio is sent. */
  readonly chunkMs: number;
  /** Whether the other side tells when audio has been played. */
  readonly acknowledgesMarks: boolean;
  read(message: CarrierMessage): CarrierEvent | undefined;
  media(payload: string): string;
  mark(name: string): string;
  clear(): string;
}

export type CarrierEvent =
  /** `chunk` is its place, where the carrier does not promise the order. */
  | { type: "media"; payload: string; chunk?: number }
  | { type: "dtmf"; key: string }
  | { type: "mark"; name: string }
  | { type: "stop" }
  | { type: "problem"; text: string };

/** A JSON object off the wire, nothing checked. */
export type CarrierMessage = Record<string, unknown>;

/** The carrier wants something of us that we cannot do; the text says how to change that. */
export class CarrierError extends Error {
  override readonly name = "CarrierError";
}

/** Whether a person or a machine answered, as far as the carrier can tell. */
export const answerers = ["human", "machine", "unknown"] as const;
export type Answerer = (typeof answerers)[number];

/** The answer in the field that Twilio named and others took over. */
export function answeredByField(fields: URLSearchParams): Answerer | undefined {
  const answeredBy = fields.get("AnsweredBy");
  if (answeredBy === null) return undefined;
  if (answeredBy === "human") return "human";
  return /^(?:machine|fax)/.test(answeredBy) ? "machine" : "unknown";
}

/** Caller and callee, as the carrier reports them. */
export interface CallData {
  streamId: string;
  callId: string;
  from: string | null;
  to: string | null;
  /** Parameters that the answer to the carrier's webhook passed on. */
  body: Record<string, unknown>;
  /** The codec the carrier sends, where it is negotiated (Telnyx). */
  outboundEncoding?: string;
  /** Set for calls that we placed with answering-machine detection. */
  answeredBy?: Answerer;
  accountSid?: string;
  customParameters?: Record<string, unknown>;
}

export function basicAuthorization(user: string, password: string): string {
  return `Basic ${btoa(`${user}:${password}`)}`;
}

export function formBody(fields: Record<string, string | undefined>): string {
  const set = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return new URLSearchParams(set).toString();
}

/** How audio looks inside a carrier's messages. */
export interface WireFormat {
  /** `pcm` is 16 bits, little end first; `pcm-network` big end first, as in RTP. */
  encoding: "mulaw" | "alaw" | "pcm" | "pcm-network";
  sampleRateHz: number;
}
