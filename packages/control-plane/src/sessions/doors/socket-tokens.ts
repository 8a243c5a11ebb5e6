import { AppError } from "@vocalhost/protocol";
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { openSignedJson, signJson } from "@vocalhost/base/signed-json";
import type { Tx } from "@vocalhost/store/store";

/** Short-lived rights to open one WebSocket each: signed, not stored, remembered once used. */
export const SocketToken = z.object({
  /** `agent.organization` */
  sh: z.string(),
  /** Unix seconds. */
  exp: z.number(),
  nonce: z.string(),
  /** The session that waits for the socket. */
  sid: z.uuid(),
});
export type SocketToken = z.infer<typeof SocketToken>;

export interface TokenSigner {
  secret: string;
}

const PURPOSE = "socket-token";

export function issueSocketToken(
  { secret }: TokenSigner,
  request: { serviceHost: string; sessionId: string; expiresAtMs: number },
): string {
  const token: SocketToken = {
    sh: request.serviceHost,
    exp: Math.floor(request.expiresAtMs / 1000),
    nonce: randomBytes(16).toString("base64url"),
    sid: request.sessionId,
  };
  return signJson({ secret, purpose: PURPOSE }, token);
}

/** Throws unless the token is ours, unexpired and for this agent. Does not use it up. */
export function readSocketToken({ secret }: TokenSigner, text: string, nowMs: number): SocketToken {
  const token = SocketToken.safeParse(openSignedJson({ secret, purpose: PURPOSE }, text));
  if (!token.success || token.data.exp * 1000 <= nowMs) throw new AppError("TOKEN_INVALID");
  return token.data;
}

/** Uses the token up. A second use throws, on whichever controller it happens. */
export async function useUpToken(tx: Tx, token: SocketToken): Promise<void> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("usedTokens")
    .values({ id: token.nonce, expiresAt: token.exp * 1000 })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== 1n) throw new AppError("TOKEN_INVALID");
}
