import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
import { createHash, timingSafeEqual } from "node:crypto";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { admitRequest } from "./admit-request.ts";
import type { ApiPorts } from "./ports.ts";

export interface ApiMetrics {
  registry: Registry;
  /** By `started` or the code of the refusal. */
  countStart(outcome: string): void;
}

const DURATION_BUCKETS_S = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/** Figures for operators. What the store knows is counted when somebody looks. */
export function createApiMetrics({ store, version }: Pick<ApiPorts, "store" | "version">): ApiMetrics {
  const registry = new Registry();
  const registers = [registry];
  const starts = new Counter({
    name: "vocalhost_starts_total",
    help: "Requests to start a session, by outcome",
    labelNames: ["outcome"],
    registers,
  });
  const info = new Gauge({
    name: "vocalhost_build_info",
    help: "Always 1; says which version runs",
    labelNames: ["version"],
    registers,
  });
  info.set({ version }, 1);
  for (const table of ["sessions", "instances"] as const)
    registry.registerMetric(
      new Gauge({
        name: `vocalhost_${table}`,
        help: `${table === "sessions" ? "Sessions" : "Instances"} that are not over, by state`,
        labelNames: ["state"],
        registers: [],
        async collect() {
          this.reset();
          for (const { state, count } of await countByState(store, table)) this.set({ state }, count);
        },
      }),
    );
  return { registry, countStart: (outcome) => starts.inc({ outcome }) };
}

async function countByState(store: ApiPorts["store"], table: "sessions" | "instances") {
  const over = table === "sessions" ? ["ended", "failed", "expired"] : ["stopped", "lost"];
  return store.db
    .selectFrom(table)
    .select("state")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("state", "not in", over as never[])
    .groupBy("state")
    .execute();
}

/** `GET /metrics`: for the operator, or while there is none, for whoever may manage. */
export function mountMetrics(app: FastifyInstance, ports: ApiPorts, { registry }: ApiMetrics): void {
  const durations = new Histogram({
    name: "vocalhost_http_request_seconds",
    help: "Time from a request to the end of its answer",
    labelNames: ["method", "route", "status"],
    buckets: DURATION_BUCKETS_S,
    registers: [registry],
  });
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "none";
    const status = `${Math.floor(reply.statusCode / 100)}xx`;
    durations.observe({ method: request.method, route, status }, reply.elapsedTime / 1000);
  });
  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    const token = ports.metricsToken;
    if (token === undefined || !isSame(request.headers.authorization ?? "", `Bearer ${token}`))
      await admitOperator(request);
    return reply.type(registry.contentType).send(await registry.metrics());
  });

  async function admitOperator(request: Parameters<typeof admitRequest>[0]): Promise<void> {
    // With a token of its own the figures, which count every organisation, are not for keys.
    if (ports.metricsToken !== undefined) throw new AppError("UNAUTHORIZED");
    await admitRequest(request, { admit: ports.admit, right: "manage" });
  }
}

function isSame(one: string, other: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}
