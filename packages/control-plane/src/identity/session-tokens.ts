import { z } from "zod";
import { openSignedJson, signJson } from "@vocalhost/base/signed-json";

/** A signed, unstored token. It lets the browser of the person who started a session reach that session only. */
export const SessionToken = z.object({
  sessionId: z.uuid(),
  organizationId: z.string(),
  /** The person who started it, whose rights are read on every use of the token. */
  userId: z.string(),
  /** Unix seconds; the session is over by then. */
  expiresAt: z.number(),
});
export type SessionToken = z.infer<typeof SessionToken>;

export interface SessionTokenSigner {
  secret: string;
}

const PREFIX = "st_";
const PURPOSE = "session-token";

export function issueSessionToken({ secret }: SessionTokenSigner, token: SessionToken): string {
  return PREFIX + signJson({ secret, purpose: PURPOSE }, token);
}

export function looksLikeSessionToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Returns undefined unless the signature is ours and the token has not expired. */
export function readSessionToken(
  { secret }: SessionTokenSigner,
  text: string,
  nowMs: number,
): SessionToken | undefined {
  const token = SessionToken.safeParse(
    openSignedJson({ secret, purpose: PURPOSE }, text.slice(PREFIX.length)),
  );
  return token.success && token.data.expiresAt * 1000 > nowMs ? token.data : undefined;
}
