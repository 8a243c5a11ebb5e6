import {
  AppError,
  ErrorAnswer,
  pathNames,
  scopedPath,
  type Operation,
  type Operations,
  type PathName,
} from "@vocalhost/protocol";
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Readable } from "node:stream";
import { z } from "zod";
import { actorOf, type Admit, type OrganizationId, type Principal } from "../identity/principal.ts";
import type { RequestLimits } from "../identity/rate-limits.ts";
import { admitRequest } from "./admit-request.ts";
import { invalid } from "./error-replies.ts";
import { holdsNul } from "./json-bodies.ts";

/** An operation with its handler. */
export interface Handled {
  operation: Operation;
  run(call: Call): Promise<unknown>;
  /** Wording of its refusals that differs from the default. */
  wording: FastifyContextConfig;
}

export interface Call<O extends Operation = Operation> {
  principal: Principal;
  organizationId: OrganizationId;
  /** The actor for audit rows. */
  actor: string;
  params: Record<PathName<O["path"]>, string>;
  query: O extends { query: infer Q extends z.ZodType } ? z.output<Q> : unknown;
  body: O extends { body: infer B extends z.ZodType } ? z.output<B> : unknown;
  request: FastifyRequest;
  reply: FastifyReply;
}

type Handlers<T extends Operations> = {
  [K in keyof T]: (call: Call<T[K]>) => Promise<Said<T[K]>>;
};

type Said<O> = O extends { answer: infer A extends z.ZodType } ? z.input<A> : Readable;

declare module "fastify" {
  interface FastifyRequest {
    principal: Principal | null;
  }
}

/** Assigns a handler to each operation of a resource, with the wording of some refusals. */
export function handle<T extends Operations>(
  operations: T,
  wording: { [K in keyof T]?: FastifyContextConfig } = {},
): (handlers: Handlers<T>) => Handled[] {
  return (handlers) =>
    Object.entries(operations).map(([name, operation]) => ({
      operation,
      run: handlers[name as keyof T] as Handled["run"],
      wording: wording[name] ?? {},
    }));
}

/** Adds the operation's own route and the one for a named organisation. */
export function mountOperation(app: FastifyInstance, handled: Handled, gate: Gate): void {
  const { path, scoped } = handled.operation;
  if (scoped !== "only") mountRoute(app, handled, { gate, path, suffix: "" });
  const inOrganization = scopedPath(handled.operation);
  if (inOrganization === undefined) return;
  const suffix = scoped === "only" ? "" : "InOrganization";
  mountRoute(app, handled, { gate, path: inOrganization, suffix });
}

/** Admission and rate limits. */
export interface Gate {
  admit: Admit;
  requestLimits: RequestLimits;
}

function mountRoute(
  app: FastifyInstance,
  { operation, run, wording }: Handled,
  { gate, path, suffix }: { gate: Gate; path: string; suffix: string },
): void {
  const { method, query, body, right, statuses = [200] } = operation;
  const params = paramsOf(operation, path !== operation.path);
  app.route({
    method,
    url: `/v1${path}`,
    exposeHeadRoute: false,
    schema: {
      operationId: operation.id + suffix,
      summary: operation.summary,
      tags: [operation.tag],
      security: [right === "public" ? { publicKey: [] } : { privateKey: [] }, { webSession: [] }],
      ...(params ? { params } : {}),
      ...(query ? { querystring: query } : {}),
      ...(body ? { body } : {}),
      ...(operation.headers ? { headers: operation.headers.loose() } : {}),
      response: {
        ...Object.fromEntries(statuses.map((status) => [status, answerOf(operation)])),
        ...refusalsOf(operation, params),
      },
    },
    config: wording,
    onRequest: async (request) => {
      refuseNul({ params: request.params, ...(query ? { query: request.query } : {}) });
      request.principal = await admitRequest(request, { admit: gate.admit, right });
      if (right !== "public") gate.requestLimits.take(request.principal, method);
    },
    preValidation: async (request) => {
      if (right !== "public") refuseNul({ body: request.body }); // the bot defines the body of a start
      if (body && request.body === undefined) request.body = {};
    },
    handler: async (request, reply) => {
      const { principal } = request;
      if (!principal) throw new AppError("UNAUTHORIZED");
      const [status = 200] = statuses;
      reply.code(status);
      return run({
        principal,
        organizationId: principal.organizationId,
        actor: actorOf(principal),
        params: request.params as Record<string, string>,
        query: request.query,
        body: request.body,
        request,
        reply,
      });
    },
  });
}

function paramsOf({ path, params }: Operation, inOrganization: boolean): z.ZodObject | undefined {
  const fields = pathNames(path).map((name) => [name, params?.[name] ?? z.string()]);
  if (inOrganization) fields.push(["org", z.string().max(255)]);
  return fields.length === 0 ? undefined : z.object(Object.fromEntries(fields));
}

/** Converts the answer for the OpenAPI document and the serializer. */
function answerOf({ answer }: Operation): z.ZodType | { description: string; content: object } {
  if ("safeParse" in answer) return answer;
  const { type, description } =
    "events" in answer ? { type: "text/event-stream", description: "Events" } : answer;
  return { description, content: { [type]: { schema: z.string() } } };
}

function refuseNul(places: Record<string, unknown>): void {
  for (const [place, value] of Object.entries(places))
    if (holdsNul(value))
      throw invalid([{ loc: [place], msg: "Must not hold NUL characters", type: "custom" }]);
}

function refusalsOf(
  { body, query, refusals = [] }: Operation,
  params: z.ZodObject | undefined,
): Record<number, z.ZodType> {
  const always = [400, 401, 403, 429, 500, 503];
  const statuses = new Set([...always, ...refusals]);
  if (params) statuses.add(404);
  if (body) for (const status of [413, 415]) statuses.add(status);
  if (!body && !query && !params) statuses.delete(400);
  return Object.fromEntries([...statuses].map((status) => [status, ErrorAnswer]));
}
