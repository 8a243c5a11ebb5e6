import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
import type { ServerResponse } from "node:http";
import type { z } from "zod";
import {
  ROLE_EVERY_MS,
  SessionLeft,
  SessionRouteRequest,
  SocketRouteRequest,
  type ControllerRole,
} from "@vocalhost/base/peers/controller-api";
import { GatewayFigures } from "@vocalhost/base/metrics/gateway-figures";
import type { SessionDoors } from "../../sessions/doors/session-doors.ts";
import type { LeaderState } from "./leader-state.ts";

/** Adds the routes for gateways. A gateway never forwards these paths from clients. */
export function mountInternalRoutes(
  app: FastifyInstance,
  options: {
    doors: SessionDoors;
    left(sessionId: string): void;
    sampled(figures: GatewayFigures): void;
    leaderState: LeaderState;
  },
): void {
  const { doors, left, sampled, leaderState } = options;
  app.get("/internal/role", (_request, reply) => {
    reply.hijack();
    tellRole(reply.raw, leaderState);
  });
  app.post("/internal/session-route", (request) => doors.route(parse(SessionRouteRequest, request.body)));
  app.post("/internal/socket-route", (request) => doors.routeSocket(parse(SocketRouteRequest, request.body)));
  app.post("/internal/session-left", async (request, reply) => {
    left(parse(SessionLeft, request.body).sessionId);
    return reply.code(204).send();
  });
  app.post("/internal/gateway-figures", async (request, reply) => {
    sampled(parse(GatewayFigures, request.body));
    return reply.code(204).send();
  });
}

/**
 * Sends a line immediately, on every change and every second. A gateway treats a stream that ends or falls silent as
 * a lost controller.
 */
function tellRole(response: ServerResponse, leaderState: LeaderState): void {
  response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
  const tell = (): void => {
    const role: ControllerRole = { leads: leaderState.isLeading, epoch: leaderState.epoch };
    if (response.writableLength === 0) response.write(`${JSON.stringify(role)}\n`);
  };
  const unwatch = leaderState.watch(tell);
  const timer = setInterval(tell, ROLE_EVERY_MS);
  response.on("error", () => undefined);
  response.once("close", () => {
    clearInterval(timer);
    unwatch();
  });
}

function parse<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new AppError("GENERIC_BAD_REQUEST", { cause: result.error });
}
