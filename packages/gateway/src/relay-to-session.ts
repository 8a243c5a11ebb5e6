import { AppError } from "@vocalhost/protocol";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { answer, toAnswer } from "./answers.ts";
import { KEEP_ALIVE_MS } from "./client-socket.ts";
import type { InstanceRoute, SessionRouteRequest } from "@vocalhost/base/peers/controller-api";
import { corsHeaders } from "./cors.ts";
import type { GatewayLimits, GatewayTiming } from "./gateway-options.ts";
import { headersForInstance, headersFromInstance } from "./headers.ts";
import { parseAddress } from "./open-instance-socket.ts";
import { afterUnreadBody, bodyFraming, hasBody } from "./request-body.ts";
import { isReserved, type RequestPath, type SessionPath } from "./request-path.ts";
import type { SessionRoutes } from "./session-routes.ts";

export interface SessionRelay {
  routes: SessionRoutes;
  timing: GatewayTiming;
  limits: GatewayLimits;
}

/** Relays a request to the instance of its session without decoding it. The instance is untrusted. */
export async function relayToSession(
  relay: SessionRelay,
  request: IncomingMessage,
  response: ServerResponse,
  path: RequestPath & SessionPath,
): Promise<void> {
  try {
    if (isReserved(path.rest)) throw new AppError("NOT_FOUND");
    const question = routeQuestion(request, path);
    const found = await relay.routes.find(question);
    if (response.destroyed) return;
    if (found.kind === "refusal") return answer(response, path.raw, found.answer);
    const told = await exchangeHeads(relay, { request, response, path, route: found.route }).catch(
      (error) => {
        if (isConnectFailure(error)) relay.routes.forget(question);
        throw error;
      },
    );
    sendBack(told, response, path.raw);
  } catch (error) {
    answer(response, path.raw, toAnswer(instanceFailure(error)));
  }
}

export function routeQuestion(
  request: IncomingMessage,
  { agent, sessionId }: SessionPath,
): SessionRouteRequest {
  const { authorization } = request.headers;
  return { agent, sessionId, ...(authorization === undefined ? {} : { authorization }) };
}

/** Returns "session over" if the instance no longer listens. Every other failure is the instance's. */
export function instanceFailure(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code } = error as NodeJS.ErrnoException;
  return code === "ECONNREFUSED"
    ? new AppError("NOT_FOUND", { message: "Service not found", cause: error })
    : new AppError("INSTANCE_UNREACHABLE", { cause: error });
}

export function isConnectFailure(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).syscall === "connect" || error instanceof ConnectTimeout;
}

export class ConnectTimeout extends Error {}

const INFORMATIONAL_MAX = 8; // an instance may send early hints, but not without limit

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  path: RequestPath & SessionPath;
  route: InstanceRoute;
}

function exchangeHeads(
  { timing, limits }: SessionRelay,
  { request, response, path, route }: Exchange,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const upstream = httpRequest({
    ...parseAddress(route.address),
    agent: false, // connections to an untrusted server are not reused
    method: request.method ?? "GET",
    path: `/sessions/${path.sessionId}${path.rest}${path.query}`,
    headers: [
      ...["host", route.address, "authorization", `Bearer ${route.token}`],
      ...headersForInstance(request.rawHeaders),
      ...bodyFraming(request),
      ...["connection", "close"],
    ],
    maxHeaderSize: limits.headBytes,
    setHost: false,
  });
  const fail = (error: Error): void => {
    clearTimeout(timer);
    request.unpipe(upstream);
    upstream.destroy();
    reject(error);
  };
  let timer = setTimeout(() => fail(new ConnectTimeout()), timing.instanceConnectMs);
  upstream.on("error", fail); // stays attached: an untrusted server can fail more than once
  const broken = (): void => fail(new Error("The instance broke off"));
  upstream.once("close", broken);
  upstream.once("upgrade", (_told, socket) => {
    socket.destroy();
    fail(new Error("The instance upgraded what nobody asked to upgrade"));
  });
  let informational = 0;
  upstream.on("information", () => {
    if (++informational > INFORMATIONAL_MAX) fail(new Error("The instance does not come to the point"));
  });
  upstream.once("response", (told) => {
    clearTimeout(timer);
    upstream.off("close", broken); // errors of the answer are handled separately
    resolve(told);
  });
  upstream.once("socket", (socket) =>
    socket.once("connect", () => {
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      clearTimeout(timer);
      timer = setTimeout(() => fail(new Error("The instance does not answer")), timing.instanceAnswerMs);
      if (hasBody(request)) request.pipe(upstream);
      else upstream.end();
    }),
  );
  response.once("close", () => upstream.destroy());
  return promise;
}

function sendBack(told: IncomingMessage, response: ServerResponse, path: string): void {
  response.writeHead(told.statusCode ?? 502, [
    ...headersFromInstance(told.rawHeaders),
    ...["x-content-type-options", "nosniff", "content-security-policy", SANDBOX],
    ...corsHeaders(path),
    ...afterUnreadBody(response),
  ]);
  response.flushHeaders();
  pipeline(told, response, () => undefined); // destroys the connection if the instance aborts
}

// Stops a bot's pages from running as our origin.
const SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'";
