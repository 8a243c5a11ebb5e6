import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Short-lived tokens, each of which opens one WebSocket. */
export interface SocketTokens {
  issue(sessionId: string): string;
  /** Returns the token's session and consumes the token; undefined if it is wrong, expired or used. */
  redeem(token: string | undefined): string | undefined;
}

const TOKEN_LIFE_S = 300;

export function createSocketTokens(nowMs: () => number = Date.now): SocketTokens {
  const secret = randomBytes(32);
  const open = new Map<string, { sessionId: string; expiresS: number }>();

  function sign(payload: string): string {
    return createHmac("sha256", secret).update(payload).digest("hex");
  }

  function prune(): void {
    const nowS = nowMs() / 1000;
    for (const [id, { expiresS }] of open) {
      if (expiresS >= nowS) return; // tokens are in order of issue, so the rest is younger
      open.delete(id);
    }
  }

  return {
    issue(sessionId) {
      prune();
      const id = randomBytes(8).toString("hex");
      const expiresS = Math.floor(nowMs() / 1000) + TOKEN_LIFE_S;
      open.set(id, { sessionId, expiresS });
      const payload = Buffer.from(JSON.stringify({ exp: expiresS, jti: id })).toString("base64url");
      return `${payload}.${sign(payload)}`;
    },
    redeem(token) {
      const [payload, signature, ...rest] = token?.split(".") ?? [];
      if (!payload || !signature || rest.length > 0 || !isEqual(signature, sign(payload))) return undefined;
      prune();
      const { jti } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { jti: string };
      const issued = open.get(jti);
      open.delete(jti); // a token that is not in the map was used or has expired
      return issued?.sessionId;
    },
  };
}

function isEqual(given: string, expected: string): boolean {
  const left = Buffer.from(given);
  const right = Buffer.from(expected);
  return left.length === right.length && timingSafeEqual(left, right);
}
