import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../own-files.ts";

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

/** `/client/`: the page to talk to a bot; `/` leads there. `/embed.js`: the talk button for pages of others. */
export async function mountClientPage(app: FastifyInstance, { visited }: { visited(): void }): Promise<void> {
  const built = existsSync(join(PAGE_FOLDER, "index.html"));
  await app.register(fastifyStatic, {
    root: PAGE_FOLDER,
    prefix: "/client/",
    serve: built,
    wildcard: true,
    decorateReply: true,
    setHeaders: (reply) => {
      visited();
      void reply.header("content-security-policy", CONTENT_SECURITY_POLICY);
      void reply.header("referrer-policy", "no-referrer");
      void reply.header("permissions-policy", "microphone=(self), camera=()");
      void reply.header("cache-control", "no-cache"); // a newer runner on the same port brings a newer page
    },
  });
  app.get("/", async (_request, reply) => reply.redirect("/client/", 307));
  app.get("/client", async (_request, reply) => reply.redirect("/client/", 307));
  if (built) {
    // Any page may load it; what it asks for then is judged by that page's origin, as all else.
    app.get("/embed.js", async (_request, reply) => reply.sendFile("embed.js"));
    return;
  }
  app.get("/client/*", async (_request, reply) =>
    reply.code(503).type("text/plain").send("The client page is not built. Run: npm run build:client-page\n"),
  );
}
