import { createHmac, timingSafeEqual } from "node:crypto";

/** One secret signs several kinds of values; the purpose separates them. */
export interface SigningKey {
  secret: string;
  purpose: string;
}

/** Returns a text that holds the value and a signature only this service can make. */
export function signJson(key: SigningKey, value: object): string {
  const payload = Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${payload}.${sign(key, payload)}`;
}

/** Returns the value, or undefined if the text was not signed by this service for this purpose. */
export function openSignedJson(key: SigningKey, text: string): unknown {
  const [payload = "", signature = "", ...rest] = text.split(".");
  if (rest.length > 0 || !isEqual(signature, sign(key, payload))) return undefined;
  return JSON.parse(Buffer.from(payload, "base64url").toString()) as unknown;
}

function sign({ secret, purpose }: SigningKey, payload: string): string {
  return createHmac("sha256", secret).update(`${purpose}:${payload}`).digest("base64url");
}

function isEqual(given: string, expected: string): boolean {
  const left = Buffer.from(given);
  const right = Buffer.from(expected);
  return left.length === right.length && timingSafeEqual(left, right);
}
