import type { FastifyRequest } from "fastify";
import type { Admit, Principal, Right } from "../identity/principal.ts";
import { requireSameOrigin } from "../identity/same-origin.ts";

/** Admits a request of any operation through the one admission function. */
export async function admitRequest(
  request: FastifyRequest,
  { admit, right }: { admit: Admit; right: Right },
): Promise<Principal> {
  const { authorization, cookie } = request.headers;
  const { org } = request.params as { org?: string };
  const principal = await admit({ authorization, cookie, organizationName: org }, right);
  requireOwnPage(request);
  return principal;
}

/** Refuses a request with a cookie that did not come from our own page. */
export function requireOwnPage(request: FastifyRequest): void {
  const { authorization, cookie, origin } = request.headers;
  const secFetchSite = single(request.headers["sec-fetch-site"]);
  requireSameOrigin({ method: request.method, origin, secFetchSite, authorization, cookie }, [
    originOf(request),
  ]);
}

/** Returns the service's origin as the client used it, which the gateway reports. */
export function originOf(request: FastifyRequest): string {
  const protocol = single(request.headers["x-forwarded-proto"]) === "https" ? "https" : "http";
  const host = single(request.headers["x-forwarded-host"]) ?? request.headers.host ?? "localhost";
  return `${protocol}://${host}`;
}

/** Returns the client's address, which the gateway passes on. */
export function addressOf(request: FastifyRequest): string {
  return single(request.headers["x-forwarded-for"]) ?? request.ip;
}

function single(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && header !== "" ? header : undefined;
}
