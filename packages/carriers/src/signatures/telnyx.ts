import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { header, type SignatureVerdict, type SignedRequest } from "./signed-request.ts";

const TOLERANCE_S = 300;
const ED25519_KEY_BYTES = 32;
const ED25519_SIGNATURE_BYTES = 64;

/** Ed25519 over the time and the raw body. */
export function checkTelnyxSignature(
  request: SignedRequest,
  publicKey: string | undefined,
): SignatureVerdict {
  if (!publicKey) return "off";
  const given = header(request, "telnyx-signature-ed25519") ?? "";
  const signature = Buffer.from(given, "base64");
  const timestamp = header(request, "telnyx-timestamp") ?? "";
  const age = Math.abs(request.nowMs / 1000 - Number(timestamp));
  const isSignature = signature.length === ED25519_SIGNATURE_BYTES && signature.toString("base64") === given;
  if (!isSignature || !/^\d{1,12}$/.test(timestamp) || age > TOLERANCE_S) return "invalid";
  const message = Buffer.from(`${timestamp}|${request.rawBody}`, "utf8");
  return verify(null, message, ed25519Key(publicKey), signature) ? "valid" : "invalid";
}

/** Throws when the text is not 32 bytes of base64, so that a mistyped key shows at start-up. */
export function ed25519Key(publicKey: string): KeyObject {
  const bytes = Buffer.from(publicKey, "base64");
  if (bytes.length !== ED25519_KEY_BYTES)
    throw new Error("TELNYX_PUBLIC_KEY must be 32 bytes of base64, as the portal shows it");
  return createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") },
    format: "jwk",
  });
}
