import { fromBase64 } from "./wire-format.ts";

/** The action that a message of the bot asks the carrier for. */
export type BotRequest =
  | { type: "play"; samples: Int16Array }
  | { type: "mark"; name: string }
  | { type: "clear" }
  | { type: "press"; digits: string };

export interface BotMessage {
  /** Undefined when the carrier does nothing about the message. */
  readonly request: BotRequest | undefined;
  readonly violations: readonly Violation[];
}

/** Something the bot did that the carrier does not allow. */
export interface Violation {
  code: ViolationCode;
  detail: string;
}

export type ViolationCode =
  | "binary-message"
  | "malformed-message"
  | "unknown-event"
  | "wrong-stream"
  | "missing-field"
  | "bad-base64"
  | "wrong-format"
  | "bad-size"
  | "bad-digits"
  | "queue-full";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Reads one message; `interpret` may refuse it with `refuse` or remark on it with `note`. Never throws. */
export function readBotMessage(text: string, interpret: Interpret): BotMessage {
  const violations: Violation[] = [];
  try {
    const message = parseObject(text);
    const event = message["event"];
    if (typeof event !== "string") refuse("malformed-message", `no "event" in ${shortened(text)}`);
    const request = interpret({
      event,
      message,
      note: (code, detail) => void violations.push({ code, detail }),
    });
    return { request, violations };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { request: undefined, violations: [...violations, error.violation] };
  }
}

export type Interpret = (incoming: IncomingMessage) => BotRequest;

export interface IncomingMessage {
  event: string;
  message: JsonObject;
  /** Counts a violation the carrier lives with. */
  note(code: ViolationCode, detail: string): void;
}

/** The carrier does nothing about this message. */
export function refuse(code: ViolationCode, detail: string): never {
  throw new Refusal({ code, detail });
}

export function refuseUnknown(carrier: string, event: string): never {
  return refuse("unknown-event", `${carrier} knows no event "${shortened(event)}"`);
}

export function objectField(parent: JsonObject, name: string): JsonObject {
  const value = parent[name];
  if (isObject(value)) return value;
  return refuse("missing-field", `"${name}" must be an object`);
}

export function textField(parent: JsonObject, name: string): string {
  const value = parent[name];
  if (typeof value === "string" && value !== "") return value;
  return refuse("missing-field", `"${name}" must be a non-empty string`);
}

export function payloadField(media: JsonObject): Uint8Array {
  const bytes = fromBase64(textField(media, "payload"));
  return bytes ?? refuse("bad-base64", "the payload is not base64");
}

/** A missing id is as bad as a wrong one. */
export function requireStream(message: JsonObject, name: string, streamId: string): void {
  if (message[name] === streamId) return;
  if (message[name] === undefined) refuse("wrong-stream", `"${name}" is missing`);
  refuse("wrong-stream", `"${name}" does not belong to this call`);
}

class Refusal extends Error {
  readonly violation: Violation;

  constructor(violation: Violation) {
    super(violation.detail);
    this.violation = violation;
  }
}

function parseObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse("malformed-message", `not JSON: ${shortened(text)}`);
  }
  if (isObject(value)) return value;
  return refuse("malformed-message", `not a JSON object: ${shortened(text)}`);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const SHOWN_CHARACTERS = 60;

function shortened(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
