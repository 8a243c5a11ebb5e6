import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { join } from "node:path";
import { packageFolderOf } from "@vocalhost/base/own-files";
import { readPageFiles, type PageFile } from "./read-page-files.ts";

const PAGE_FOLDER = join(packageFolderOf(import.meta), "dashboard-page");

/** Addresses the page itself tells apart; all of them are the one document. */
const PAGE_ADDRESS = /^\/(?:|sign-in|owner|device|create-agent|usage|agents(?:\/.*)?|settings(?:\/.*)?)$/s;

// Nothing comes from elsewhere, and nothing runs that is not a file of the page.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self' blob:", // recordings of calls
  "connect-src 'self' ws: wss:", // sessions of the talk panel, wherever the service says they are
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "microphone=(self), camera=(), geolocation=()",
};

/** The talk button is there for pages of others. */
const EMBED_SCRIPT = "/embed.js";
const EMBED_HEADERS = { ...HEADERS, "cross-origin-resource-policy": "cross-origin" };

const DOCUMENT = "/index.html";

const YEAR_S = 31_536_000;

/** The dashboard: one document for all of its addresses, and the files it names. Read when somebody comes to see it. */
export function mountDashboard(app: FastifyInstance, folder = PAGE_FOLDER): void {
  let files: Map<string, PageFile> | undefined;
  // One route, since each of a hundred would cost every start of a controller its share.
  app.get<{ Params: { "*": string } }>(
    "/*",
    { schema: { hide: true }, exposeHeadRoute: true },
    async (request, reply) => {
      files ??= readPageFiles(folder);
      const url = `/${request.params["*"]}`;
      const document = files.get(DOCUMENT);
      if (PAGE_ADDRESS.test(url)) return document ? send(request, reply, document) : sendNotBuilt(reply);
      const file = url === DOCUMENT ? undefined : files.get(url);
      if (file) return send(request, reply, file, url === EMBED_SCRIPT ? EMBED_HEADERS : HEADERS);
      // Whoever follows a link that leads nowhere sees a page that says so; programs get data.
      if (!document || !isPageVisit(request)) return reply.callNotFound();
      return send(request, reply.code(404), document);
    },
  );
}

function isPageVisit({ url, headers }: FastifyRequest): boolean {
  return (
    !/^\/(?:v1|auth|internal|ws|assets)(?:[/?]|$)/.test(url) && /\btext\/html\b/.test(headers.accept ?? "")
  );
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  file: PageFile,
  headers: Record<string, string> = HEADERS,
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

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Vocalhost</title>
<h1>The dashboard is not built</h1><p>The service runs, and its <a href="/v1/docs">REST interface</a> works. To build
the dashboard, run <code>node scripts/build-dashboard.ts</code> in the repository and start the service again.</p></html>
`;

function sendNotBuilt(reply: FastifyReply): FastifyReply {
  return reply.code(503).headers(HEADERS).type("text/html; charset=utf-8").send(NOT_BUILT);
}
