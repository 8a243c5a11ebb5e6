import { AppError, type RtviFile } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
import { randomBytes } from "node:crypto";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunnerConfig } from "./config.ts";

const UPLOAD_MAX_BYTES = 50 * 1024 * 1024;
const FORM_BYTES = 64 * 1024; // overhead of the form around the file
const UPLOADED = /^[0-9a-f]{32}$/;

/** `POST /files`: takes a file for `send-file`, and returns the id that goes into that message. */
export function mountUploads(app: FastifyInstance, uploads: RunnerConfig["uploads"]): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    const options = { parseAs: "buffer", bodyLimit: UPLOAD_MAX_BYTES + FORM_BYTES } as const;
    scope.addContentTypeParser("multipart/form-data", options, (_request, body, done) => done(null, body));
    scope.post<{ Body: Buffer }>("/files", { config: { takesFiles: true } }, async (request) => {
      if (!uploads)
        throw new AppError("NOT_FOUND", {
          message: "No uploads are taken. Start the runner with --uploads-folder <folder>.",
        });
      const file = await fileIn(request.body, request.headers["content-type"] ?? "");
      return keep(file, uploads);
    });
  });
}

async function fileIn(body: Buffer, type: string): Promise<File> {
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } })
    .formData()
    .catch(() => undefined);
  const file = form?.get("file");
  if (!(file instanceof File))
    throw new AppError("INVALID_REQUEST", { message: "Send a form with one file, named file" });
  if (file.size > UPLOAD_MAX_BYTES) throw new AppError("PAYLOAD_TOO_LARGE");
  return file;
}

/** Stores a file under a random name; the client's own name is only echoed. */
async function keep(
  file: File,
  { folder, maxFiles }: NonNullable<RunnerConfig["uploads"]>,
): Promise<RtviFile> {
  const name = randomBytes(16).toString("hex");
  await writeFile(join(folder, name), file.stream(), { flag: "wx", mode: 0o600 });
  await dropOldest(folder, maxFiles);
  return {
    name: file.name.slice(0, 256),
    format: file.type || "application/octet-stream",
    source: { type: "id", id: `vocalhost:${name}` },
  };
}

/** Deletes uploads only, and no other files in the folder. */
async function dropOldest(folder: string, maxFiles: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => UPLOADED.test(name));
  if (names.length <= maxFiles) return;
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const atMs = await stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      );
      return { path, atMs };
    }),
  );
  files.sort((left, right) => left.atMs - right.atMs);
  const dropped = files.slice(0, files.length - maxFiles);
  await Promise.all(dropped.map(({ path }) => rm(path, { force: true })));
}
