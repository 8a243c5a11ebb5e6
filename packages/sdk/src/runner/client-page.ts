import type { FastifyInstance } from "fastify";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../own-files.ts";
import { sendFile } from "./files.ts";

const PAGE_FOLDER = join(packageFolder, "client-page");

// Nothing comes from elsewhere, and nothing runs that is not a file of the page.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self' blob:", // recordings of calls
  "connect-src 'self' ws: wss:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "referrer-policy": "no-referrer",
  "permissions-policy": "microphone=(self), camera=()",
  "cache-control": "no-cache", // a newer runner on the same port brings a newer page
};

/** `/client/`: the page to talk to a bot; `/` leads there. `/embed.js`: the talk button for pages of others. */
export function mountClientPage(app: FastifyInstance, { visited }: { visited(): void }): void {
  app.get("/", async (_request, reply) => reply.redirect("/client/", 307));
  app.get("/client", async (_request, reply) => reply.redirect("/client/", 307));
  if (!existsSync(join(PAGE_FOLDER, "index.html"))) {
    app.get("/client/*", async (_request, reply) =>
      reply
        .code(503)
        .type("text/plain")
        .send("The client page is not built. Run: npm run build:client-page\n"),
    );
    return;
  }
  app.get<{ Params: { "*": string } }>("/client/*", async (request, reply) => {
    const sent = await sendFile(request, reply, {
      root: PAGE_FOLDER,
      path: `/${request.params["*"]}`,
      headers: HEADERS,
    });
    if (reply.statusCode < 400) visited();
    return sent;
  });
  // Any page may load it; what it asks for then is judged by that page's origin, as all else.
  app.get("/embed.js", async (request, reply) =>
    sendFile(request, reply, { root: PAGE_FOLDER, path: "embed.js", headers: HEADERS }),
  );
}
