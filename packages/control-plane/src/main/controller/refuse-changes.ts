import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
import type { LeaderState } from "./leader-state.ts";

/** Questions that are answered from the store, though they are asked by POST. */
const READS = ["/internal/session-route"];

/** One that stands by answers reads; gateways bring everything else to the one that leads. */
export function refuseChangesUnlessLeading(app: FastifyInstance, leaderState: LeaderState): void {
  app.addHook("onRequest", async (request) => {
    if (leaderState.isLeading || request.method === "GET" || request.method === "HEAD") return;
    if (READS.includes(request.url)) return;
    throw new AppError("SERVICE_UNAVAILABLE", { message: "This controller stands by; another one leads" });
  });
}
