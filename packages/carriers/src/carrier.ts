import { answerers, type CarrierAccounts, type CarrierName, type CarrierRequest } from "@vocalhost/protocol";
import type { CallData } from "./call-data.ts";
import type { WireFormat } from "./wire-format.ts";

/** A telephony provider: knows its calls by their first messages. */
export interface Carrier {
  readonly name: CarrierName;
  /** Undefined unless the message opens a stream of this carrier. Throws `CarrierError` if we cannot take it. */
  open(message: CarrierMessage, address: URLSearchParams): CarrierStream | undefined;
}

/** One call: what its messages mean and how to say things in them. */
export interface CarrierStream {
  readonly carrier: CarrierName;
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
  /** The REST call that ends the phone call; undefined if the carrier has none or no credentials are set. */
  hangUp(accounts: CarrierAccounts): HangUp | undefined;
  /** The REST call that connects the caller with somebody else; undefined if the carrier has none. */
  transfer: ((accounts: CarrierAccounts, transfer: Transfer) => CarrierRequest | undefined) | undefined;
  /** How keys are pressed for the bot; undefined: by playing their tones. */
  keys: KeySending | undefined;
}

export interface Transfer {
  to: string;
  /** Whom they see calling. */
  callerId: string | undefined;
  /** Below this the carrier can ask us what to do with the call; undefined where nobody reaches us. */
  callbackUrl: string | undefined;
}

/** Undefined where no credentials are set. */
export type KeySending =
  | { over: "socket"; message(keys: string): string }
  | { over: "rest"; request(accounts: CarrierAccounts, keys: string): CarrierRequest | undefined };

export type CarrierEvent =
  /** `chunk` is its place, where the carrier does not promise the order. */
  | { type: "media"; payload: string; chunk?: number }
  | { type: "dtmf"; key: string }
  | { type: "mark"; name: string }
  | { type: "stop" }
  | { type: "problem"; text: string };

export interface HangUp extends CarrierRequest {
  /** Answers that mean the call was over already. */
  isAlreadyOver(status: number, body: string): boolean;
}

/** A JSON object off the wire, nothing checked. */
export type CarrierMessage = Record<string, unknown>;

/** The carrier wants something of us that we cannot do; the text says how to change that. */
export class CarrierError extends Error {
  override readonly name = "CarrierError";
}

export function asMessage(value: unknown): CarrierMessage {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as CarrierMessage)
    : {};
}

export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

const ID = /^[\w:+/=.-]{1,256}$/; // UUIDs, hexadecimal and base64; the longest have about 80 characters

/** The name of a call or a stream. It becomes part of REST addresses, where "." and ".." lead elsewhere. */
export function asId(value: unknown): string | undefined {
  const id = asText(value);
  if (id === undefined || !ID.test(id)) return undefined;
  return id.split("/").some((part) => /^\.+$/.test(part)) ? undefined : id;
}

/** Carriers write numbers as numbers or as text. */
export function asNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** What the answer to the carrier's question passed on of who took a call that we placed. */
export function answeredBy(value: unknown): Pick<CallData, "answeredBy"> {
  const answerer = answerers.find((each) => each === value);
  return answerer ? { answeredBy: answerer } : {};
}

/** The events most carriers share, under the names most of them use. */
export function readCommonEvent(message: CarrierMessage): CarrierEvent | undefined {
  switch (message["event"]) {
    case "media": {
      const media = asMessage(message["media"]);
      const payload = asText(media["payload"]);
      const track = asText(media["track"]);
      const isOurs = track === undefined || track.startsWith("inbound");
      if (!payload || !isOurs) return undefined;
      return { type: "media", payload };
    }
    case "dtmf": {
      const key = asText(asMessage(message["dtmf"])["digit"]);
      return key ? { type: "dtmf", key } : undefined;
    }
    case "mark": {
      const name = asText(asMessage(message["mark"])["name"]);
      return name ? { type: "mark", name } : undefined;
    }
    case "stop":
      return { type: "stop" };
    default:
      return undefined;
  }
}
