import websocket from "@fastify/websocket";
import { AppError, isAppError, limits, parseJsonBody } from "@vocalhost/protocol";
import Fastify, { type FastifyInstance } from "fastify";
import type { Log } from "../log.ts";
import { installErrorReplies, refuseBytes, refusePath } from "./error-replies.ts";
import { createSessionTable, type SessionTable } from "./session-table.ts";
import { unwrapSessionPath } from "./session-path.ts";

/** The web application of a session server before its routes are mounted; users add their own first. */
export interface SessionApp {
  app: FastifyInstance;
  sessions: SessionTable;
}

export interface SessionAppOptions {
  /** How long a started session waits for its client, in milliseconds. @default 120000 */
  connectDeadlineMs?: number;
}

const HEADERS_MAX_BYTES = 16 * 1024;
const PATH_PART_MAX_CHARACTERS = 512; // socket tokens are longer than the router's limit of 100

const GOODBYE_MS = 5_000; // responsive clients answer at once; others must not delay the shutdown

/** Resolves when WebSocket routes may be added; one added earlier would hang. */
export async function createSessionApp(log: Log, options: SessionAppOptions = {}): Promise<SessionApp> {
  const sessions = createSessionTable(log, options.connectDeadlineMs);
  const app = Fastify({
    bodyLimit: limits.jsonBodyBytes,
    forceCloseConnections: true,
    rewriteUrl: (request) => unwrapSessionPath(request, sessions),
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: PATH_PART_MAX_CHARACTERS },
    http: { maxHeaderSize: HEADERS_MAX_BYTES },
    frameworkErrors: refusePath,
    clientErrorHandler: refuseBytes,
  });
  app.decorateRequest("sessionId", null);
  installErrorReplies(app, log);
  installJsonBodies(app);
  app.addHook("onSend", async (_request, reply) => {
    reply.header("x-content-type-options", "nosniff");
  });
  const socketOptions = {
    maxPayload: limits.socketMessageBytes,
    perMessageDeflate: false,
    closeTimeout: GOODBYE_MS, // missing in the type declarations
  };
  await app.register(websocket, { options: socketOptions });
  keepSocketsToTheirRoutes(app);
  return { app, sessions };
}

// By default the plugin opens a WebSocket on every route only to close it, and runs hooks of WebSocket routes for
// plain requests.
function keepSocketsToTheirRoutes(app: FastifyInstance): void {
  app.addHook("onRoute", (route) => {
    const takes = route.websocket ? "sockets" : route.wsHandler ? "both" : "requests";
    route.config = { ...route.config, takes };
  });
  app.addHook("preValidation", async (request) => {
    const { takes = "requests" } = request.routeOptions.config;
    if (takes !== "both" && request.ws !== (takes === "sockets")) throw new AppError("NOT_FOUND");
  });
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Treats a body that is not JSON as `{}` instead of refusing it. */
    lenientBody?: boolean;
    takes?: "requests" | "sockets" | "both";
  }
  interface FastifyRequest {
    /** The session in the path by which a custom route was reached; null at the route's own path. */
    sessionId: string | null;
  }
}

/** Represents an unreadable body until the route decides whether to refuse it. */
class UnreadableBody {
  readonly error: AppError;
  constructor(error: AppError) {
    this.error = error;
  }
}

/** Accepts JSON bodies only, bounded in size and depth, and never decompressed. */
export function installJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, text, done) => {
    done(null, parseBody(String(text)));
  });
  app.addHook("onRequest", async (request) => {
    const encoding = request.headers["content-encoding"];
    if (encoding !== undefined && encoding !== "identity") throw new AppError("UNSUPPORTED_MEDIA_TYPE");
  });
  app.addHook("preValidation", async (request) => {
    if (!(request.body instanceof UnreadableBody)) return;
    if (!request.routeOptions.config.lenientBody) throw request.body.error;
    request.body = {};
  });
}

function parseBody(text: string): unknown {
  try {
    return parseJsonBody(text);
  } catch (error) {
    if (isAppError(error)) return new UnreadableBody(error);
    throw error;
  }
}
