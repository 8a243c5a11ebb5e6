import { createHmac } from "node:crypto";
import { equalTexts } from "./equal-texts.ts";
import { header, type SignatureVerdict, type SignedRequest } from "./signed-request.ts";

const TOLERANCE_S = 300;

/** Daily's dial-in webhook: HMAC-SHA256 over the time and the raw body, with a secret that is written in base64. */
export function checkDailySignature(request: SignedRequest, secret: string | undefined): SignatureVerdict {
  if (!secret) return "off";
  const timestamp = header(request, "x-pinless-timestamp") ?? "";
  const age = Math.abs(request.nowMs / 1000 - Number(timestamp));
  if (!/^\d{1,12}$/.test(timestamp) || age > TOLERANCE_S) return "invalid";
  const expected = createHmac("sha256", Buffer.from(secret, "base64"))
    .update(`${timestamp}.${request.rawBody}`)
    .digest("base64");
  return equalTexts(header(request, "x-pinless-signature") ?? "", expected) ? "valid" : "invalid";
}
