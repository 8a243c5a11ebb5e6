import type { FastifyReply, FastifyRequest } from "fastify";
import type { PageFile } from "./read-page-files.ts";

const YEAR_S = 31_536_000;

/** Returns a page's headers: the page loads and runs only its own files. */
export function pageHeaders(sources: Record<string, string>): Record<string, string> {
  const policy = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    ...sources,
  };
  return {
    "content-security-policy": Object.entries(policy)
      .map((directive) => directive.join(" "))
      .join("; "),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "microphone=(self), camera=(), geolocation=()",
  };
}

export function sendPageFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: PageFile,
  headers: Record<string, string>,
): FastifyReply {
  const takesPacked = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
  const body = takesPacked && file.packed ? file.packed : file.body;
  if (file.packed) reply.header("vary", "accept-encoding");
  if (body === file.packed) reply.header("content-encoding", "gzip");
  return reply
    .headers(headers)
    .header("cache-control", file.isImmutable ? `public, max-age=${YEAR_S}, immutable` : "no-cache")
    .type(file.type)
    .send(body);
}
