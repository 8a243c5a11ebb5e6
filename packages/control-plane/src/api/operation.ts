import { AppError, ErrorAnswer, type FieldProblem } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import {
  actorOf,
  type Admit,
  type OrganizationId,
  type Principal,
  type Right,
} from "../identity/principal.ts";
import type { RequestLimits } from "../identity/rate-limits.ts";
import { admitRequest } from "./admit-request.ts";
import { invalid } from "./error-replies.ts";
import { holdsNul } from "./json-bodies.ts";

/** One thing a caller can do: how it is asked for, who may, what is answered. */
export interface Operation<
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
> {
  id: string;
  tag: string;
  summary: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Under `/v1`. */
  path: string;
  /** The same under `/v1/organizations/{org}`; null: not there. @default the path */
  alias?: string | null;
  /** The path exists only under an organisation. */
  aliasOnly?: boolean;
  right: Right;
  params?: P;
  query?: Q;
  body?: B;
  /** Headers that mean something here; all others stay as they are. */
  headers?: z.ZodObject;
  answers: Record<number, AnswerSchema>;
  /** Statuses of refusals beside those that every operation has. */
  refusals?: number[];
  wording?: {
    invalidText?: (problems: FieldProblem[]) => string;
    repeatsIssues?: boolean;
    unauthorizedText?: string;
    internalText?: string;
  };
  run(call: Call<z.infer<P>, z.infer<Q>, z.infer<B>>): Promise<unknown>;
}

/** JSON, or one other kind of content. */
export type AnswerSchema =
  | z.ZodType
  | { description: string; content: Record<string, { schema: z.ZodType }> };

export interface Call<P, Q, B> {
  principal: Principal;
  organizationId: OrganizationId;
  /** For audit rows. */
  actor: string;
  params: P;
  query: Q;
  body: B;
  request: FastifyRequest;
  reply: FastifyReply;
}

declare module "fastify" {
  interface FastifyRequest {
    principal: Principal | null;
  }
}

/** Keeps what `run` is given in step with the schemas. */
export function defineOperation<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
  operation: Operation<P, Q, B>,
): Operation {
  return operation;
}

/** Adds the operation's routes: its own, and the same for a named organisation. */
export function mountOperation(app: FastifyInstance, operation: Operation, gate: Gate): void {
  if (!operation.aliasOnly) mountRoute(app, operation, { gate, url: `/v1${operation.path}`, org: false });
  if (operation.alias === null) return;
  const url = `/v1/organizations/:org${operation.alias ?? operation.path}`;
  mountRoute(app, operation, { gate, url, org: true });
}

/** Who may come in, and how often. */
export interface Gate {
  admit: Admit;
  requestLimits: RequestLimits;
}

function mountRoute(
  app: FastifyInstance,
  operation: Operation,
  { gate, url, org }: { gate: Gate; url: string; org: boolean },
): void {
  const { method, params, query, body, right, wording } = operation;
  const allParams = org ? (params ?? z.object({})).extend({ org: OrganizationName }) : params;
  app.route({
    method,
    url,
    exposeHeadRoute: false,
    schema: {
      operationId: operation.id + (org && !operation.aliasOnly ? "InOrganization" : ""),
      summary: operation.summary,
      tags: [operation.tag],
      security: [right === "public" ? { publicKey: [] } : { privateKey: [] }, { webSession: [] }],
      ...(allParams ? { params: allParams } : {}),
      ...(query ? { querystring: query } : {}),
      ...(body ? { body } : {}),
      ...(operation.headers ? { headers: operation.headers.loose() } : {}),
      response: { ...operation.answers, ...refusalsOf({ ...operation, params: allParams }) },
    },
    config: wording ?? {},
    onRequest: async (request) => {
      refuseNul({ params: request.params, ...(query ? { query: request.query } : {}) });
      request.principal = await admitRequest(request, { admit: gate.admit, right });
      if (right !== "public" && right !== "session") gate.requestLimits.take(request.principal, method);
    },
    preValidation: async (request) => {
      if (right !== "public") refuseNul({ body: request.body }); // a start's body belongs to the bot
      if (body && request.body === undefined) request.body = {};
    },
    handler: async (request, reply) => {
      const { principal } = request;
      if (!principal) throw new AppError("UNAUTHORIZED");
      return operation.run({
        principal,
        organizationId: principal.organizationId,
        actor: actorOf(principal),
        params: request.params as Record<string, unknown>,
        query: request.query as Record<string, unknown>,
        body: request.body,
        request,
        reply,
      });
    },
  });
}

const OrganizationName = z.string().max(255);

function refuseNul(places: Record<string, unknown>): void {
  for (const [place, value] of Object.entries(places))
    if (holdsNul(value))
      throw invalid([{ loc: [place], msg: "Must not hold NUL characters", type: "custom" }]);
}

function refusalsOf({ params, body, query, refusals = [] }: Operation): Record<number, z.ZodType> {
  const always = [400, 401, 403, 429, 500, 503];
  const statuses = new Set([...always, ...refusals]);
  if (params) statuses.add(404);
  if (body) for (const status of [413, 415]) statuses.add(status);
  if (!body && !query && !params) statuses.delete(400);
  return Object.fromEntries([...statuses].map((status) => [status, ErrorAnswer]));
}
