import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { realpath, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";

/** `/files/…`: downloads from one folder, and from nowhere else. */
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

/** Answers with a file below `root`. Its library loads with the first one, since the runner starts more often than it sends. */
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
