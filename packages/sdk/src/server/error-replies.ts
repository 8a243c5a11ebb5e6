import { AppError, isAppError, type ErrorCode, type FieldProblem } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import type { Log } from "../log.ts";

/** Every refusal and failure leaves as `{ error, code, detail }`; what is not meant for callers stays in the log. */
export function installErrorReplies(app: FastifyInstance, log: Log): void {
  app.setNotFoundHandler(async (request, reply) => {
    const error = new AppError("NOT_FOUND", {
      message: `There is no ${request.method} ${pathOf(request.url)}`,
    });
    await reply.code(error.status).send(error.toBody());
  });
  app.setErrorHandler(async (error, request, reply) => {
    const known = isAppError(error) ? error : fromFastify(error);
    if (known.status >= 500 && !known.retryable)
      log.error({ err: error, method: request.method, path: pathOf(request.url) }, "request failed");
    if (known.retryable) reply.header("retry-after", "1");
    await reply.code(known.status).send(known.toBody());
  });
}

/** Reads a request body with its schema or throws with every field that is wrong. */
export function parseRequest<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  const result = schema.safeParse(body ?? {});
  if (result.success) return result.data;
  const problems: FieldProblem[] = result.error.issues.map((issue) => ({
    loc: ["body", ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))],
    msg: issue.message,
    type: issue.code,
  }));
  const [first] = problems;
  const message = first ? `${first.loc.join(".")}: ${first.msg}` : undefined;
  throw new AppError("INVALID_REQUEST", { problems, ...(message ? { message } : {}) });
}

const FASTIFY_CODES: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "PAYLOAD_TOO_LARGE",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  FST_ERR_CTP_EMPTY_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "INVALID_REQUEST",
  FST_ERR_BAD_URL: "NOT_FOUND",
};

function fromFastify(error: unknown): AppError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = FASTIFY_CODES[code];
  if (known) return new AppError(known, { cause: error });
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (status === 404) return new AppError("NOT_FOUND", { cause: error });
  if (status === 403) return new AppError("ACCESS_DENIED", { cause: error });
  return new AppError("INTERNAL_SERVER_ERROR", { cause: error });
}

// Query strings may hold tokens.
function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? url;
}
