import websocket from "@fastify/websocket";
import { limits } from "@vocalhost/protocol";
import Fastify, { type FastifyInstance } from "fastify";
import type { Log } from "../log.ts";
import { installErrorReplies } from "./error-replies.ts";
import { installJsonBodies } from "./json-bodies.ts";
import { createSessionTable, type SessionTable } from "./session-table.ts";
import { unwrapSessionPath } from "./session-path.ts";

/** The web application of a session server before its own routes are mounted: users add theirs first. */
export interface SessionApp {
  app: FastifyInstance;
  sessions: SessionTable;
}

const HEADERS_MAX_BYTES = 16 * 1024;

/** Resolves when WebSocket routes may be added; one added earlier would hang. */
export async function createSessionApp(log: Log): Promise<SessionApp> {
  const sessions = createSessionTable(log);
  const app = Fastify({
    bodyLimit: limits.jsonBodyBytes,
    forceCloseConnections: true,
    rewriteUrl: (request) => unwrapSessionPath(request, sessions),
    routerOptions: { ignoreTrailingSlash: false },
    http: { maxHeaderSize: HEADERS_MAX_BYTES },
  });
  app.decorateRequest("sessionId", null);
  installErrorReplies(app, log);
  installJsonBodies(app);
  app.addHook("onSend", async (_request, reply) => {
    reply.header("x-content-type-options", "nosniff");
  });
  await app.register(websocket, {
    options: { maxPayload: limits.socketMessageBytes, perMessageDeflate: false },
  });
  return { app, sessions };
}

declare module "fastify" {
  interface FastifyRequest {
    /** The session whose path a custom route was reached through; null at the route's own path. */
    sessionId: string | null;
  }
}
