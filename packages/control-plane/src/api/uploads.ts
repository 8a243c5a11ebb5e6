import multipart from "@fastify/multipart";
import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { invalid } from "./error-replies.ts";
import type { ApiPorts } from "./ports.ts";

/** The folder is limited to 500 MiB before it is packed, so no archive of it is larger. */
const FILE_MAX_BYTES = 512 * 1024 * 1024;
/** Counted here: past its own limit the parser answers 413 or 400, depending on how the body was split. */
const FIELDS_MAX = 20;
const TOO_MANY_FIELDS = `An upload form has at most ${FIELDS_MAX} fields beside its file`;
const FIELD_MAX_BYTES = 4 * 1024;

export function uploadPath(uploadId: string): string {
  return `/v1/builds/uploads/${uploadId}`;
}

/** `POST /v1/builds/uploads/{uploadId}`: a form whose fields authorise the file behind them. */
export function mountUploads(app: FastifyInstance, { builds }: ApiPorts): void {
  void app.register(async (scope) => {
    await scope.register(multipart, {
      limits: {
        fileSize: FILE_MAX_BYTES,
        files: 1,
        fieldSize: FIELD_MAX_BYTES,
        fieldNameSize: 100,
        headerPairs: 50,
      },
    });
    scope.post("/v1/builds/uploads/:uploadId", { schema: { hide: true } }, async (request, reply) => {
      const uploadId = z.uuid().safeParse((request.params as { uploadId: string }).uploadId).data;
      if (uploadId === undefined) throw new AppError("NOT_FOUND", { message: "Upload not found" });
      const fields: Record<string, string> = {};
      let fieldCount = 0;
      let isReceived = false;
      for await (const part of request.parts()) {
        if (part.type === "field") {
          if (++fieldCount > FIELDS_MAX)
            throw new AppError("PAYLOAD_TOO_LARGE", { message: TOO_MANY_FIELDS });
          if (typeof part.value === "string") fields[part.fieldname] = part.value;
          continue;
        }
        if (part.fieldname !== "file") throw invalid([missing(`Unexpected part '${part.fieldname}'`)]);
        await builds.receiveUpload({ uploadId, fields, file: part.file });
        if (part.file.truncated) throw new AppError("PAYLOAD_TOO_LARGE");
        isReceived = true;
      }
      if (!isReceived) throw invalid([missing("The form needs a last part named 'file'")]);
      return reply.code(204).send();
    });
  });
}

function missing(msg: string): { loc: string[]; msg: string; type: string } {
  return { loc: ["body", "file"], msg, type: "custom" };
}
