import { createHmac, timingSafeEqual } from "node:crypto";

export interface DailySigned {
  rawBody: string;
  /** `X-Pinless-Timestamp`, of events `X-Webhook-Timestamp` */
  timestamp: string | undefined;
  /** `X-Pinless-Signature`, of events `X-Webhook-Signature` */
  signature: string | undefined;
  nowMs: number;
}

const TOLERANCE_S = 300;

/** Of Daily's webhooks: HMAC-SHA256 over the time and the raw body, with a secret that is written in base64. */
export function isSignedByDaily(request: DailySigned, secret: string): boolean {
  const { rawBody, timestamp = "", signature = "", nowMs } = request;
  const age = Math.abs(nowMs / 1000 - Number(timestamp));
  if (!/^\d{1,12}$/.test(timestamp) || age > TOLERANCE_S) return false;
  const expected = createHmac("sha256", Buffer.from(secret, "base64"))
    .update(`${timestamp}.${rawBody}`)
    .digest("base64");
  const [left, right] = [Buffer.from(signature), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
