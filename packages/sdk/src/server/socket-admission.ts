import { AppError } from "@vocalhost/protocol";
import type { FastifyRequest } from "fastify";
import type { SessionServer } from "./session-server.ts";

export interface SocketRequest {
  Params: { token?: string };
  Querystring: { token?: string; session?: string };
}

/**
 * Whether a WebSocket may be opened at all: token first, then origin, then the bot's readiness.
 * Gives the session its token stands for, if it has one.
 */
export function admitSocket(
  server: SessionServer,
  request: FastifyRequest<SocketRequest>,
): string | undefined {
  const token = tokenOf(request);
  const sessionId = server.tokens.redeem(token);
  if (!sessionId && (server.socketAuth === "token" || token !== undefined))
    throw new AppError("TOKEN_INVALID");
  server.checkOrigin(request);
  server.bot();
  return sessionId;
}

function tokenOf(request: FastifyRequest<SocketRequest>): string | undefined {
  const bearer = /^bearer\s+(\S+)$/i.exec(request.headers.authorization ?? "");
  return request.params.token ?? bearer?.[1] ?? request.query.token;
}
