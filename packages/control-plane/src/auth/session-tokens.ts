import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";

/** Lets the browser of somebody who started a session reach that session and nothing else: signed, not stored. */
export const SessionToken = z.object({
  sessionId: z.uuid(),
  organizationId: z.string(),
  /** Who started it; what he may do is looked up whenever the token is used. */
  userId: z.string(),
  /** Unix seconds: the session is over by then. */
  expiresAt: z.number(),
});
export type SessionToken = z.infer<typeof SessionToken>;

export interface SessionTokenSigner {
  secret: string;
}

const PREFIX = "st_";
const PURPOSE = "session-token:"; // the same secret signs other things too

export function issueSessionToken({ secret }: SessionTokenSigner, token: SessionToken): string {
  const payload = Buffer.from(JSON.stringify(token)).toString("base64url");
  return `${PREFIX}${payload}.${sign(secret, payload)}`;
}

export function looksLikeSessionToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Undefined unless it is ours and has not expired. */
export function readSessionToken(
  { secret }: SessionTokenSigner,
  text: string,
  nowMs: number,
): SessionToken | undefined {
  const [payload = "", signature = "", ...rest] = text.slice(PREFIX.length).split(".");
  if (rest.length > 0 || !isEqual(signature, sign(secret, payload))) return undefined;
  const token = SessionToken.parse(JSON.parse(Buffer.from(payload, "base64url").toString()));
  return token.expiresAt * 1000 > nowMs ? token : undefined;
}

function sign(secret: string, payload: string): string {
  return createHmac("sha256", secret)
    .update(PURPOSE + payload)
    .digest("base64url");
}

function isEqual(given: string, expected: string): boolean {
  const left = Buffer.from(given);
  const right = Buffer.from(expected);
  return left.length === right.length && timingSafeEqual(left, right);
}
