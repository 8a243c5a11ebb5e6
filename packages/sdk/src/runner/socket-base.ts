import type { FastifyRequest } from "fastify";

/** The address under which this client can open WebSockets to us. */
export function socketBase(request: FastifyRequest, proxy: string | undefined): string {
  if (proxy) return `wss://${proxy}`;
  const forwarded = request.headers["x-forwarded-proto"];
  const secure = (Array.isArray(forwarded) ? forwarded[0] : forwarded)?.split(",", 1)[0]?.trim() === "https";
  return `${secure ? "wss" : "ws"}://${request.headers.host}`; // the guards have checked the host
}
