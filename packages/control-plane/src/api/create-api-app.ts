import { limits } from "@vocalhost/protocol";
import Fastify, { type FastifyInstance } from "fastify";
import type { RequestListener, Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import type { Log } from "@vocalhost/base/log";
import { installErrorReplies, refuseBytes, refusePath } from "./error-replies.ts";
import { installJsonBodies } from "./json-bodies.ts";

const HEADERS_MAX_BYTES = 16 * 1024;
const PATH_PART_MAX_CHARACTERS = 255;

export interface ApiAppOptions {
  /** @default plain HTTP */
  createServer?: (handler: RequestListener, options: { headersMaxBytes: number }) => SecureServer;
}

/** Creates the controller's web application without routes: it parses bodies and formats refusals. */
export function createApiApp(log: Log, { createServer }: ApiAppOptions = {}): FastifyInstance {
  const serverFactory =
    createServer &&
    ((handler: RequestListener) =>
      createServer(handler, { headersMaxBytes: HEADERS_MAX_BYTES }) as unknown as Server); // all that Fastify uses
  const app = Fastify({
    ...(serverFactory ? { serverFactory } : {}),
    bodyLimit: limits.jsonBodyBytes,
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: PATH_PART_MAX_CHARACTERS },
    http: { maxHeaderSize: HEADERS_MAX_BYTES },
    frameworkErrors: refusePath,
    clientErrorHandler: refuseBytes,
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  installErrorReplies(app, log);
  installJsonBodies(app);
  app.addHook("onSend", async (request, reply) => {
    // Closing with unread bytes would destroy the refusal before the gateway has read it.
    if (!request.raw.complete && reply.statusCode >= 400) {
      reply.removeHeader("connection");
      request.raw.resume();
    }
    for (const [name, value] of SECURITY_HEADERS) if (!reply.hasHeader(name)) reply.header(name, value);
  });
  return app;
}

/** Defaults for routes: answers are data for the client that asked. */
const SECURITY_HEADERS: [string, string][] = [
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "no-referrer"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["cache-control", "no-store"],
  ["cross-origin-opener-policy", "same-origin"],
];
