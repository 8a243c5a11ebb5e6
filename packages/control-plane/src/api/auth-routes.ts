import { AppError, type AuthConfig } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { CLI_CLIENT_ID } from "../identity/auth-library.ts";
import { originOf } from "./admit-request.ts";
import type { ApiPorts } from "./ports.ts";

const BODY_MAX_BYTES = 64 * 1024;

/** Passes sign-in requests to the library for accounts, with their bytes unchanged. */
export function mountAuthRoutes(
  app: FastifyInstance,
  { people: { handler }, signInMethods = ["password"] }: Pick<ApiPorts, "people" | "signInMethods">,
): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      "*",
      { parseAs: "string", bodyLimit: BODY_MAX_BYTES },
      (_request, body, done) => {
        done(null, body);
      },
    );
    const schema = { hide: true };

    scope.get("/auth/config", { schema }, async (request): Promise<AuthConfig> => ({
      issuer: originOf(request),
      client_id: CLI_CLIENT_ID,
      scopes: "openid profile email offline_access",
      methods: [...signInMethods],
    }));
    // Another command line hides our refusal but shows an unexpected issuer.
    scope.get("/.well-known/openid-configuration", { schema }, async (request) => {
      if (!request.headers["user-agent"]?.startsWith("PipecatCloudCLI/"))
        throw new AppError("NOT_FOUND", { message: "This service is no OpenID provider" });
      return {
        issuer:
          "this service signs nobody in by OpenID: type 'pipecat cloud auth use-pat', or set PIPECAT_TOKEN to a private key",
      };
    });
    scope.post("/auth/logout", { schema }, async (request, reply) => {
      const token = refreshToken(request.body);
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      await handler(toWebRequest(request, { path: "/auth/sign-out", body: "{}", headers }));
      return reply.send({ status: "OK" }); // signing out succeeds without a session
    });
    scope.post("/owner", { schema }, async (request, reply) =>
      passOn(reply, await handler(toWebRequest(request, { path: "/auth/redeem-link" }))),
    );
    scope.route({
      method: ["GET", "POST"],
      url: "/auth/*",
      exposeHeadRoute: false,
      schema,
      handler: async (request, reply) => passOn(reply, await handler(toWebRequest(request, {}))),
    });
  });
}

function toWebRequest(
  request: FastifyRequest,
  options: { path?: string; body?: string; headers?: Record<string, string> },
): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries({ ...request.headers, ...options.headers }))
    if (typeof value === "string" && !DROPPED_HEADERS.has(name)) headers.set(name, value);
  const body = options.body ?? (typeof request.body === "string" ? request.body : undefined);
  if (options.body !== undefined) headers.set("content-type", "application/json");
  return new Request(originOf(request) + (options.path ?? request.url), {
    method: request.method,
    headers,
    ...(body === undefined || request.method === "GET" ? {} : { body }),
  });
}

const DROPPED_HEADERS = new Set(["connection", "content-length", "transfer-encoding", "expect", "host"]);

async function passOn(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  reply.code(response.status);
  for (const [name, value] of response.headers) if (name !== "set-cookie") reply.header(name, value);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) reply.header("set-cookie", cookies);
  reply.removeHeader("content-length");
  return reply.send(Buffer.from(await response.arrayBuffer()));
}

function refreshToken(body: unknown): string | undefined {
  try {
    const { refresh_token: token } = JSON.parse(String(body)) as { refresh_token?: unknown };
    return typeof token === "string" && /^[\x21-\x7e]+$/.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}
