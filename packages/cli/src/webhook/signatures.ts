import { createHmac, createPrivateKey, createPublicKey, sign, type KeyObject } from "node:crypto";
import { usageProblem } from "../problem.ts";

export type FormFields = Readonly<Record<string, string>>;

/** `X-Twilio-Signature` of a form POST; without fields that of a GET or a WebSocket upgrade. */
export function signTwilio(authToken: string, url: string, fields: FormFields = {}): string {
  const written = sorted(fields).map(([name, value]) => name + value);
  return createHmac("sha1", authToken)
    .update(url + written.join(""))
    .digest("base64");
}

/** `X-Plivo-Signature-V3` of a form POST. */
export function signPlivo(authToken: string, request: PlivoRequest): string {
  const { origin, pathname, searchParams } = new URL(request.url);
  const query = [...searchParams].sort(byNameThenValue).map(([name, value]) => `${name}=${value}`);
  const fields = sorted(request.fields).map(([name, value]) => name + value);
  const start = query.length + fields.length > 0 ? "?" : "";
  const between = query.length > 0 && fields.length > 0 ? "." : "";
  const text = `${origin}${pathname}${start}${query.join("&")}${between}${fields.join("")}.${request.nonce}`;
  return createHmac("sha256", authToken).update(text).digest("base64");
}

export interface PlivoRequest {
  url: string;
  fields: FormFields;
  nonce: string;
}

/** `telnyx-signature-ed25519` of a raw body sent at a time in seconds. */
export function signTelnyx(privateKey: KeyObject, timestamp: string, body: string): string {
  return sign(null, Buffer.from(`${timestamp}|${body}`), privateKey).toString("base64");
}

/** The key as PEM, or its 32 bytes (also with the public half behind them) as base64. */
export function parseEd25519Key(text: string): KeyObject {
  if (text.includes("-----BEGIN")) return createPrivateKey(text);
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== 32 && bytes.length !== 64)
    throw usageProblem("Telnyx's private key must be PEM, or 32 bytes as base64.");
  const der = Buffer.concat([ED25519_PREFIX, bytes.subarray(0, 32)]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

/** As Telnyx's portal shows it: 32 bytes as base64. */
export function publicHalf(privateKey: KeyObject): string {
  return createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(-32).toString("base64");
}

const ED25519_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex"); // PKCS #8 before the key

function sorted(fields: FormFields): [string, string][] {
  return Object.entries(fields).sort(byNameThenValue);
}

function byNameThenValue([name, value]: [string, string], [otherName, otherValue]: [string, string]): number {
  if (name !== otherName) return name < otherName ? -1 : 1;
  return value < otherValue ? -1 : 1;
}
