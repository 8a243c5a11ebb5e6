import { AppError, InstanceStart, InstanceStop, limits, type InstanceStatus } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { parseRequest } from "../server/error-replies.ts";
import type { EventStream } from "./event-stream.ts";
import type { Lease } from "./lease.ts";

export interface InstanceRoutesOptions {
  app: FastifyInstance;
  lease: Lease;
  events: EventStream;
  status(): InstanceStatus;
  /** Asks the bot again whether it is ready. */
  refresh(): Promise<void>;
  /** Throws unless the bot would take a session now. */
  requireReady(): Promise<void>;
  begin(input: InstanceStart): void;
}

const START_MAX_BYTES = limits.jsonBodyBytes + 64 * 1024; // the client's body and the controller's fields around it

/**
 * Refuses every request without the instance's token, and hides the token from the bot's own routes. Install it before
 * the bot is loaded: hooks run in the order they were added.
 */
export function requireToken(app: FastifyInstance, token: string): void {
  const expected = digest(`Bearer ${token}`);
  app.addHook("onRequest", async (request) => {
    const given = request.raw.headers.authorization ?? "";
    if (!timingSafeEqual(digest(given), expected)) throw new AppError("UNAUTHORIZED");
    forgetAuthorization(request.raw);
  });
}

/** Adds the routes by which a controller commands and watches this instance. */
export function mountInstanceRoutes({ app, lease, events, status, ...options }: InstanceRoutesOptions): void {
  app.get("/instance", async () => {
    await options.refresh();
    return status();
  });
  app.get("/instance/events", { exposeHeadRoute: false }, (_request, reply) => events.open(reply, status()));
  app.post("/instance/start", { bodyLimit: START_MAX_BYTES }, async (request) => {
    const input = parseRequest(InstanceStart, request.body);
    if (lease.state === "free") await options.requireReady();
    if (lease.start(input) === "new") setImmediate(options.begin, input); // after the answer, which the client waits for
    return status();
  });
  app.post("/instance/stop", async (request) => {
    lease.stop(parseRequest(InstanceStop, request.body));
    return status();
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
