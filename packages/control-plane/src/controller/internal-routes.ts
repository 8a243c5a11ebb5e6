import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import { SessionLeft, SessionRouteRequest, SocketRouteRequest } from "../gateway/controller-api.ts";
import { GatewayFigures } from "../metrics/gateway-figures.ts";
import type { SessionDoors } from "../sessions/doors/session-doors.ts";

/** What only the gateway may ask. It never passes these paths on from outside. */
export function mountInternalRoutes(
  app: FastifyInstance,
  options: { doors: SessionDoors; left(sessionId: string): void; sampled(figures: GatewayFigures): void },
): void {
  const { doors, left, sampled } = options;
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

function parse<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new AppError("GENERIC_BAD_REQUEST", { cause: result.error });
}
