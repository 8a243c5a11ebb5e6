import { FOREIGN_CODE_HEADER, REGION_HEADER, REGION_REASON_HEADER } from "@vocalhost/protocol";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RawHeaders } from "./headers.ts";
import { afterUnreadBody } from "./request-body.ts";

/** Pages of any origin may start and reach sessions: they send a key, never a cookie. */
export function corsHeaders(path: string): RawHeaders {
  return isPublic(path) ? [...ALLOWED] : [];
}

export function isPublic(path: string): boolean {
  return path.startsWith("/v1/public/");
}

export function isPreflight(request: IncomingMessage, path: string): boolean {
  return (
    request.method === "OPTIONS" &&
    request.headers["access-control-request-method"] !== undefined &&
    isPublic(path)
  );
}

export function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, [...PREFLIGHT, ...afterUnreadBody(response)]).end();
}

const ALLOWED: RawHeaders = [
  "access-control-allow-origin",
  "*",
  "access-control-expose-headers",
  `x-vocalhost-session-id, ${REGION_HEADER}, ${REGION_REASON_HEADER}, retry-after, ${FOREIGN_CODE_HEADER}`,
];

const PREFLIGHT: RawHeaders = [
  "access-control-allow-origin",
  "*",
  "access-control-allow-methods",
  "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
  "access-control-allow-headers",
  `content-type, authorization, idempotency-key, ${REGION_HEADER}`,
  "access-control-max-age",
  "7200", // the maximum of browsers
];
