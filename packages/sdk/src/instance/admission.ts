import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/**
 * Nobody gets past this without the instance's token, which the bot's own routes never see. Install it before the bot
 * is loaded: hooks run in the order they were added.
 */
export function requireToken(app: FastifyInstance, token: string): void {
  const expected = digest(`Bearer ${token}`);
  app.addHook("onRequest", async (request) => {
    const given = request.raw.headers.authorization ?? "";
    if (!timingSafeEqual(digest(given), expected)) throw new AppError("UNAUTHORIZED");
    forgetAuthorization(request.raw);
  });
}

function forgetAuthorization(request: IncomingMessage): void {
  delete request.headers.authorization;
  const { rawHeaders } = request;
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2)
    if (rawHeaders[at]?.toLowerCase() === "authorization") rawHeaders.splice(at, 2);
}

// Digests have one length, so comparing them says nothing about the length of the token.
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
