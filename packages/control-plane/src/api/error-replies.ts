import {
  AppError,
  FOREIGN_CODE_HEADER,
  foreignCodeOf,
  frameworkErrorCodes,
  isAppError,
  refusalOfBytes,
  withoutQuery,
  type ErrorAnswer,
  type ErrorCode,
  type FieldProblem,
} from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { hasZodFastifySchemaValidationErrors } from "fastify-type-provider-zod";
import type { Socket } from "node:net";
import type { Log } from "@vocalhost/base/log";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Describes the problems of a request's fields. @default Invalid parameters */
    invalidText?: (problems: FieldProblem[]) => string;
    /** Repeats the validator's messages in `err`. */
    repeatsIssues?: boolean;
    /** @default Unauthorized */
    unauthorizedText?: string;
    /** @default Internal server error */
    internalText?: string;
  }
}

/**
 * Sends every refusal and failure as `{ error, code }`, with invalid fields in `detail`; internal causes are only
 * logged. Under `/v1/public`, where the gateway repeats the controller's answer, `detail` is always set: released
 * clients show nothing else.
 */
export function installErrorReplies(app: FastifyInstance, log: Log): void {
  app.setNotFoundHandler(async (request, reply) => {
    await send(
      reply,
      new AppError("NOT_FOUND", { message: `There is no ${request.method} ${withoutQuery(request.url)}` }),
    );
  });
  app.setErrorHandler(async (error, request, reply) => {
    const known = toAppError(error, request);
    if (known.status >= 500 && !known.retryable)
      log.error({ err: error, method: request.method, path: withoutQuery(request.url) }, "request failed");
    await send(reply, known, issuesOf(error, request));
  });
}

/** Refuses paths the router cannot parse; they reach no hook and no handler. */
export function refusePath(_error: unknown, _request: unknown, reply: FastifyReply): void {
  const known = new AppError("NOT_FOUND");
  void reply.code(known.status).send(known.toBody());
}

/** Refuses bytes that are no request, writing to the socket directly. */
export function refuseBytes(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return;
  socket.end(refusalOfBytes(error.code, "GENERIC_BAD_REQUEST"));
}

/** Returns an `Invalid parameters` error with the fields named in `detail`. */
export function invalid(problems: FieldProblem[], message?: string): AppError {
  return new AppError("GENERIC_BAD_REQUEST", { problems, ...(message === undefined ? {} : { message }) });
}

async function send(reply: FastifyReply, error: AppError, issues?: unknown[]): Promise<void> {
  if (error.retryable)
    reply.header("retry-after", String(Math.max(1, Math.ceil((error.retryAfterMs ?? 0) / 1_000))));
  if (error.status === 401) reply.header("www-authenticate", "Bearer");
  const foreignCode = foreignCodeOf(error.code);
  if (foreignCode !== undefined) reply.header(FOREIGN_CODE_HEADER, foreignCode);
  const { detail, ...rest } = error.toBody();
  const repeats =
    detail === rest.error &&
    !/^\/(?:v1\/(?:organizations\/[^/]+\/)?public|internal)\//.test(reply.request.url);
  const body: ErrorAnswer = repeats ? rest : { ...rest, detail };
  if (issues) body.err = { name: "ZodError", issues };
  await reply.code(error.status).header("content-type", "application/json; charset=utf-8").send(body);
}

const FASTIFY_CODES: Record<string, ErrorCode> = {
  ...frameworkErrorCodes,
  FST_REQ_FILE_TOO_LARGE: "PAYLOAD_TOO_LARGE",
  FST_INVALID_MULTIPART_CONTENT_TYPE: "UNSUPPORTED_MEDIA_TYPE",
};

function toAppError(error: unknown, request: FastifyRequest): AppError {
  const { config } = request.routeOptions;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const place = error.validationContext === "querystring" ? "query" : (error.validationContext ?? "body");
    const problems = error.validation.map(({ instancePath, message, keyword }) => ({
      loc: [place, ...instancePath.split("/").filter((part) => part !== "")],
      msg: message ?? "Invalid",
      type: keyword,
    }));
    return invalid(problems, config.invalidText?.(problems));
  }
  if (isAppError(error)) return reworded(error, config);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = FASTIFY_CODES[code];
  if (known) return new AppError(known, { cause: error });
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return invalid([problem("The request cannot be read")]);
  return internal(config, error);
}

function reworded(error: AppError, config: FastifyRequest["routeOptions"]["config"]): AppError {
  switch (error.code) {
    case "MALFORMED_JSON":
    case "BODY_TOO_DEEP": {
      const problems = [problem(error.message)];
      return invalid(problems, config.invalidText?.(problems));
    }
    case "UNAUTHORIZED":
      return config.unauthorizedText === undefined
        ? error
        : new AppError("UNAUTHORIZED", { message: config.unauthorizedText, cause: error });
    case "INTERNAL_SERVER_ERROR":
      return internal(config, error);
    default:
      return error;
  }
}

function internal(config: FastifyRequest["routeOptions"]["config"], cause: unknown): AppError {
  const { internalText } = config;
  return new AppError("INTERNAL_SERVER_ERROR", {
    cause,
    ...(internalText === undefined ? {} : { message: internalText }),
  });
}

function issuesOf(error: unknown, request: FastifyRequest): unknown[] | undefined {
  if (!request.routeOptions.config.repeatsIssues || !hasZodFastifySchemaValidationErrors(error))
    return undefined;
  return error.validation.map(({ instancePath, message, keyword }) => ({
    code: keyword,
    path: instancePath.split("/").filter((part) => part !== ""),
    message,
  }));
}

function problem(msg: string): FieldProblem {
  return { loc: ["body"], msg, type: "malformed" };
}
