import {
  AppError,
  frameworkErrorCodes,
  isAppError,
  refusalOfBytes,
  withoutQuery,
  type ErrorCode,
  type FieldProblem,
} from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Socket } from "node:net";
import type { z } from "zod";
import type { Log } from "../log.ts";

/** Answers every refusal and failure with `{ error, code, detail }`; internal details stay in the log. */
export function installErrorReplies(app: FastifyInstance, log: Log): void {
  app.setNotFoundHandler(async (request, reply) => {
    const error = new AppError("NOT_FOUND", {
      message: `There is no ${request.method} ${withoutQuery(request.url)}`,
    });
    await reply.code(error.status).send(error.toBody());
  });
  app.setErrorHandler(async (error, request, reply) => {
    const known = toAppError(error);
    if (known.status >= 500 && !known.retryable)
      log.error({ err: error, method: request.method, path: withoutQuery(request.url) }, "request failed");
    if (known.retryable) reply.header("retry-after", "1");
    await reply.code(statusOf(error) ?? known.status).send(known.toBody());
  });
}

/** Answers paths that the router cannot decode; they reach no hook and no handler. */
export function refusePath(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = toAppError(error);
  // A refused upgrade has no reader for its close, and its open socket would delay the shutdown.
  if (request.raw.headers.upgrade !== undefined)
    reply.raw.once("finish", () => request.raw.socket.destroySoon());
  void reply.code(known.status).send(known.toBody());
}

/** Answers bytes that are not HTTP, directly on the socket. */
export function refuseBytes(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return;
  socket.end(refusalOfBytes(error.code, "INVALID_REQUEST"));
}

/** An instance parses each kind of request once or twice; compiling a parser would take longer. */
const ONCE = { jitless: true };

/** Parses a request body with its schema. Throws an error that names every invalid field. */
export function parseRequest<S extends z.ZodType>(schema: S, body: unknown): z.infer<S> {
  const result = schema.safeParse(body ?? {}, ONCE);
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
  ...frameworkErrorCodes,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "INVALID_REQUEST",
};

function toAppError(error: unknown): AppError {
  if (isAppError(error)) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = FASTIFY_CODES[code];
  if (known) return new AppError(known, { cause: error });
  const status = statusOf(error);
  if (status === 404) return new AppError("NOT_FOUND", { cause: error });
  if (status === 403) return new AppError("ACCESS_DENIED", { cause: error });
  // A custom route, or its schema, refused the request with a message.
  if (status !== undefined && error instanceof Error)
    return new AppError("INVALID_REQUEST", { message: error.message, cause: error });
  return new AppError("INTERNAL_SERVER_ERROR", { cause: error });
}

/** Returns the status of a foreign error if it blames the client. */
function statusOf(error: unknown): number | undefined {
  if (isAppError(error) || !(error instanceof Error) || !("statusCode" in error)) return undefined;
  const status = Number(error.statusCode);
  return status >= 400 && status < 500 ? status : undefined;
}
