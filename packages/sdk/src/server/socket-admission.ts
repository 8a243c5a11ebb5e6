import { AppError } from "@vocalhost/protocol";
import type { FastifyRequest } from "fastify";
import type { SessionHost } from "./doors/door.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route calls `admitSocket`, which checks the origin itself, after the token. */
    asksAdmission?: boolean;
  }
}

export interface SocketRequest {
  Params: { token?: string; "*"?: string };
  Querystring: { token?: string | string[]; session?: string };
}

/**
 * Checks whether a WebSocket may be opened: first the token, then the origin, then the bot's readiness. Returns
 * the token's session, if any.
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
