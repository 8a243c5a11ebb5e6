import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
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
    return reply.sendFile(relative(folder, path), folder, { dotfiles: "deny", cacheControl: false });
  });
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
