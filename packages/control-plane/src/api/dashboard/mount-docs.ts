import type { FastifyInstance } from "fastify";
import { join } from "node:path";
import { packageFolderOf } from "@vocalhost/base/own-files";
import { readPageFiles, type PageFile } from "./read-page-files.ts";
import { pageHeaders, sendPageFile } from "./send-page-file.ts";

const SITE_FOLDER = join(packageFolderOf(import.meta), "docs-page");

// Icons of the site are `data:` URLs in its style sheet.
const HEADERS = pageHeaders({ "img-src": "'self' data:", "connect-src": "'self'" });

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Vocalhost</title>
<h1>The documentation is not built</h1><p>To build it, run <code>npm run docs</code> in the repository and reload this
page. The same pages are in its folder <code>docs</code>.</p></html>
`;

/** Serves the documentation site, whose addresses have no ending. The files are read on the first visit. */
export function mountDocs(app: FastifyInstance, folder = SITE_FOLDER): void {
  let files: Map<string, PageFile> | undefined;
  app.get("/docs", { schema: { hide: true } }, (_request, reply) => reply.redirect("/docs/"));
  app.get<{ Params: { "*": string } }>(
    "/docs/*",
    { schema: { hide: true }, exposeHeadRoute: true },
    async (request, reply) => {
      if (!files?.has("/index.html")) files = readPageFiles(folder);
      if (!files.has("/index.html"))
        return reply.code(503).headers(HEADERS).type("text/html; charset=utf-8").send(NOT_BUILT);
      const url = `/${request.params["*"]}`;
      const file = files.get(url) ?? files.get(url.endsWith("/") ? `${url}index.html` : `${url}.html`);
      if (file) return sendPageFile(request, reply, file, HEADERS);
      const missing = files.get("/404.html");
      if (!missing || url.startsWith("/assets/")) return reply.callNotFound();
      return sendPageFile(request, reply.code(404), missing, HEADERS);
    },
  );
}
