import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { existsSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { packageFolder } from "../own-files.ts";

const PAGE_FOLDER = join(packageFolder, "client-page");

// Loads nothing from other origins, and runs only the page's own files.
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

/** `/client/`: the page to talk to a bot; `/` redirects there. `/embed.js`: the talk button for other pages. */
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
  // Any page may load it; its requests are then checked by that page's origin.
  app.get("/embed.js", async (request, reply) =>
    sendFile(request, reply, { root: PAGE_FOLDER, path: "embed.js", headers: HEADERS }),
  );
}

/** `/files/…`: downloads from one folder only. */
export function mountFiles(app: FastifyInstance, folder: string | undefined): void {
  app.get<{ Params: { "*": string } }>("/files/*", async (request, reply) => {
    if (folder === undefined)
      throw new AppError("NOT_FOUND", {
        message: "No folder is served. Start the runner with --folder <folder>.",
      });
    const path = await locate(folder, request.params["*"]);
    reply.header(
      "content-disposition",
      `attachment; filename="${basename(path).replace(/[^\x20-\x7e]|["\\]/g, "_")}"`,
    );
    return sendFile(request, reply, { root: folder, path: relative(folder, path) });
  });
}

/** Answers with a file below `root`. The library loads with the first file, to keep the runner's start fast. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: { root: string; path: string; headers?: Record<string, string> },
): Promise<FastifyReply> {
  const { default: send } = await import("@fastify/send");
  const options = { root: file.root, dotfiles: "deny", cacheControl: false } as const;
  const sent = await send(request.raw, encodeURI(file.path), options);
  if (sent.type === "error" && sent.statusCode !== 404) throw sent.metadata.error;
  if (sent.type !== "file") {
    reply.callNotFound();
    return reply;
  }
  return reply
    .code(sent.statusCode)
    .headers(sent.headers)
    .headers(file.headers ?? {})
    .send(sent.stream);
}

async function locate(folder: string, wanted: string): Promise<string> {
  const odd = wanted.includes("\0") || wanted.includes("\\") || wanted.startsWith("/");
  if (odd || wanted.split("/").some((part) => part.startsWith("."))) throw new AppError("ACCESS_DENIED");
  const path = await realpath(join(folder, wanted)).catch(() => undefined);
  if (path === undefined) throw new AppError("NOT_FOUND", { message: "File not found" });
  if (path !== folder && !path.startsWith(folder + sep)) throw new AppError("ACCESS_DENIED");
  const found = await stat(path);
  if (!found.isFile()) throw new AppError("NOT_FOUND", { message: "File not found" });
  return path;
}
