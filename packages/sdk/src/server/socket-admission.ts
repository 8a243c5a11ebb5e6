import { AppError } from "@vocalhost/protocol";
import type { FastifyRequest } from "fastify";
import type { SessionHost } from "./doors/door.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route calls `admitSocket`, which judges the origin itself, after the token. */
    asksAdmission?: boolean;
  }
}

export interface SocketRequest {
  Params: { token?: string; "*"?: string };
  Querystring: { token?: string | string[]; session?: string };
}

/**
 * Whether a WebSocket may be opened at all: token first, then origin, then the bot's readiness.
 * Gives the session its token stands for, if it has one.
 */
export function admitSocket(server: SessionHost, request: FastifyRequest<SocketRequest>): string | undefined {
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
  const { params, query } = request;
  const queried = Array.isArray(query.token) ? query.token.join() : query.token;
  return params.token ?? params["*"] ?? bearer?.[1] ?? queried;
}
