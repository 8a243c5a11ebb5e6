import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { join } from "node:path";
import { packageFolderOf } from "@vocalhost/base/own-files";
import { readPageFiles, type PageFile } from "./read-page-files.ts";
import { pageHeaders, sendPageFile } from "./send-page-file.ts";

const PAGE_FOLDER = join(packageFolderOf(import.meta), "dashboard-page");

/** The addresses the page itself routes, all served by the same document. */
const PAGE_ADDRESS = /^\/(?:|sign-in|owner|device|create-agent|usage|agents(?:\/.*)?|settings(?:\/.*)?)$/s;

const HEADERS = pageHeaders({
  "media-src": "'self' blob:", // recordings of calls
  "connect-src": "'self' ws: wss:", // sessions of the talk panel, at any address the service returns
});

/** Pages of other sites embed the talk button. */
const EMBED_SCRIPT = "/embed.js";
const EMBED_HEADERS = { ...HEADERS, "cross-origin-resource-policy": "cross-origin" };

const DOCUMENT = "/index.html";

/**
 * Serves the dashboard: one document for all its addresses, and the files it names. The files are read on the first
 * visit.
 */
export function mountDashboard(app: FastifyInstance, folder = PAGE_FOLDER): void {
  let files: Map<string, PageFile> | undefined;
  // One wildcard route, because a hundred routes would slow every start of a controller.
  app.get<{ Params: { "*": string } }>(
    "/*",
    { schema: { hide: true }, exposeHeadRoute: true },
    async (request, reply) => {
      files ??= readPageFiles(folder);
      const url = `/${request.params["*"]}`;
      const document = files.get(DOCUMENT);
      if (PAGE_ADDRESS.test(url))
        return document ? sendPageFile(request, reply, document, HEADERS) : sendNotBuilt(reply);
      const file = url === DOCUMENT ? undefined : files.get(url);
      if (file) return sendPageFile(request, reply, file, url === EMBED_SCRIPT ? EMBED_HEADERS : HEADERS);
      // A browser gets a page for an unknown address; programs get JSON.
      if (!document || !isPageVisit(request)) return reply.callNotFound();
      return sendPageFile(request, reply.code(404), document, HEADERS);
    },
  );
}

function isPageVisit({ url, headers }: FastifyRequest): boolean {
  return (
    !/^\/(?:v1|auth|internal|ws|assets)(?:[/?]|$)/.test(url) && /\btext\/html\b/.test(headers.accept ?? "")
  );
}

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Vocalhost</title>
<h1>The dashboard is not built</h1><p>The service runs, and its <a href="/v1/docs">REST interface</a> works. To build
the dashboard, run <code>node scripts/build-dashboard.ts</code> in the repository and start the service again.</p></html>
`;

function sendNotBuilt(reply: FastifyReply): FastifyReply {
  return reply.code(503).headers(HEADERS).type("text/html; charset=utf-8").send(NOT_BUILT);
}
