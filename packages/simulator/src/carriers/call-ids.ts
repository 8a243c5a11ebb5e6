import type { CarrierName } from "@vocalhost/protocol";
import type { CallIds } from "./carrier.ts";

/** Ids of the shape the carrier gives them, new for every call. */
export function newCallIds(carrier: CarrierName): CallIds {
  switch (carrier) {
    case "twilio":
      return {
        callId: `CA${randomHex(16)}`,
        streamId: `MZ${randomHex(16)}`,
        accountId: `AC${randomHex(16)}`,
        sessionId: "",
      };
    case "telnyx":
      return {
        callId: `v3:${randomLetters(51)}`,
        streamId: randomUuid(),
        accountId: randomUuid(),
        sessionId: randomUuid(),
      };
    case "plivo":
      return {
        callId: randomUuid(),
        streamId: randomUuid(),
        accountId: `MA${randomHex(9).toUpperCase()}`,
        sessionId: "",
      };
    case "exotel":
      return { callId: randomHex(16), streamId: randomHex(16), accountId: "simulated1", sessionId: "" };
    default:
      return carrier satisfies never;
  }
}

function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}

function randomHex(byteCount: number): string {
  return Array.from(randomBytes(byteCount), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Not crypto.randomUUID: browsers have it in secure contexts only.
function randomUuid(): string {
  const bytes = randomBytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function randomLetters(count: number): string {
  return Array.from(randomBytes(count), (byte) => LETTERS[byte % LETTERS.length]!).join("");
}
