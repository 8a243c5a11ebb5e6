import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { createHash, timingSafeEqual } from "node:crypto";
import { admitRequest } from "./admit-request.ts";
import type { ApiPorts } from "./ports.ts";

/** `GET /metrics`: needs the operator's token, or the right to manage if no token is set. */
export function mountMetrics(app: FastifyInstance, ports: ApiPorts): void {
  const { metrics, metricsToken } = ports;
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "none";
    const status = `${Math.floor(reply.statusCode / 100)}xx`;
    metrics.requestDone({ method: request.method, route, status }, reply.elapsedTime / 1000);
  });
  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    const sent = request.headers.authorization ?? "";
    if (metricsToken === undefined || !isSame(sent, `Bearer ${metricsToken}`)) await admitOperator(request);
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });

  async function admitOperator(request: FastifyRequest): Promise<void> {
    // With a token set, keys are refused: the figures count every organisation.
    if (metricsToken !== undefined) throw new AppError("UNAUTHORIZED");
    await admitRequest(request, { admit: ports.admit, right: "manage" });
  }
}

function isSame(one: string, other: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}
