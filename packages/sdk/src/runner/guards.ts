import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isIP } from "node:net";
import { isLoopback, type RunnerConfig } from "./config.ts";

/** Keeps web pages of other origins away from a developer's machine. */
export interface Guards {
  checkHost(request: FastifyRequest): void;
  /** Whether the page comes from this machine, for instance from another development server. */
  isNeighbour(request: FastifyRequest): boolean;
  checkOrigin(request: FastifyRequest): void;
}

// Paths that clients need; the others (files, webhooks, the bot's own routes) are for our own page only.
const CLIENT_PATHS = /^\/(?:start|status|ws-client|api\/offer|sessions|rtc)(?=[/?]|$)/;
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);
const CORS_METHODS = "GET, POST, PUT, PATCH, DELETE";
const CORS_HEADERS = "content-type, authorization";
const CORS_MAX_AGE_S = 600;

export function createGuards(config: Pick<RunnerConfig, "host" | "proxy" | "allowedOrigins">): Guards {
  const names = new Set(["localhost", "127.0.0.1", "[::1]"]);
  if (isLoopback(config.host)) names.add(config.host);
  else if (isIP(config.host) === 0) names.add(config.host.toLowerCase());
  if (config.proxy) names.add(hostName(config.proxy) ?? config.proxy);
  const allowedOrigins = new Set(config.allowedOrigins);
  if (config.proxy) allowedOrigins.add(`https://${config.proxy}`); // our own page, if the proxy changes Host

  // DNS rebinding sends the attacker's name as Host; a bare address cannot be rebound.
  function isOurName(name: string): boolean {
    return names.has(name) || (!isLoopback(config.host) && isIP(name.replace(/^\[|\]$/g, "")) !== 0);
  }

  function isNeighbour({ headers }: FastifyRequest): boolean {
    const url = headers.origin !== undefined && URL.canParse(headers.origin) && new URL(headers.origin);
    if (!url || url.origin !== headers.origin || !/^https?:$/.test(url.protocol)) return false;
    return isLoopback(url.hostname) && isLoopback(hostName(headers.host) ?? "");
  }

  return {
    isNeighbour,
    checkHost(request) {
      const name = hostName(request.headers.host);
      if (name !== undefined && isOurName(name)) return;
      throw new AppError("HOST_NOT_ALLOWED", {
        message:
          "Host is not allowed. Start the runner with --proxy <public host name> to serve it under another name.",
      });
    },
    checkOrigin(request) {
      const { origin } = request.headers;
      if (origin === undefined || allowedOrigins.has(origin.toLowerCase())) return;
      const url = URL.canParse(origin) ? new URL(origin) : undefined;
      if (url && url.origin === origin && url.host === request.headers.host?.toLowerCase()) return;
      if (isNeighbour(request) && CLIENT_PATHS.test(request.originalUrl)) return;
      throw new AppError("ORIGIN_NOT_ALLOWED", {
        message:
          "Origin is not allowed. Start the runner with --allowed-origins <origin> to let that page use it.",
      });
    },
  };
}

/** Checks every request, and answers preflights of allowed origins. */
export function installGuards(app: FastifyInstance, guards: Guards): void {
  app.addHook("onRequest", async (request, reply) => {
    guards.checkHost(request);
    if (request.ws && request.routeOptions.config.asksAdmission) return undefined; // its token is checked first
    // A page of this machine may also read why it was refused.
    if (guards.isNeighbour(request)) allowOrigin(request, reply);
    guards.checkOrigin(request);
    allowOrigin(request, reply);
    if (request.method === "OPTIONS" && request.headers["access-control-request-method"])
      return answerPreflight(reply);
    if (!SAFE_METHODS.has(request.method) && !takesOther(request)) requireJson(request);
    return undefined;
  });
}

function takesOther({ routeOptions: { config } }: FastifyRequest): boolean {
  return config.webhook === true || config.takesFiles === true;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route takes forms with files; pages of other origins are still refused. */
    takesFiles?: boolean;
  }
}

function allowOrigin(request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  reply.header("vary", "Origin");
  reply.header("access-control-allow-origin", origin); // only ever an origin that was checked
  reply.header("access-control-expose-headers", "x-vocalhost-session-id");
}

function answerPreflight(reply: FastifyReply): FastifyReply {
  return reply
    .code(204)
    .header("access-control-allow-methods", CORS_METHODS)
    .header("access-control-allow-headers", CORS_HEADERS)
    .header("access-control-max-age", CORS_MAX_AGE_S)
    .send();
}

// Cross-origin requests without a preflight are never JSON.
function requireJson(request: FastifyRequest): void {
  const { "content-type": type, "content-length": length, "transfer-encoding": encoding } = request.headers;
  const hasBody = encoding !== undefined || (length !== undefined && length !== "0");
  if (type === undefined && !hasBody) return;
  if (/^application\/json(?:\s*;.*)?$/i.test(type ?? "")) return;
  throw new AppError("UNSUPPORTED_MEDIA_TYPE");
}

/** Returns the host without port, in lower case; undefined when it is missing or invalid. */
function hostName(host: string | undefined): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host ?? "")?.[1]?.toLowerCase();
}
