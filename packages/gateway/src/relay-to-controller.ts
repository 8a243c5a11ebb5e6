import { AppError } from "@vocalhost/protocol";
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { answer, toAnswer } from "./answers.ts";
import { clientAddress } from "./client-address.ts";
import { unavailable, type ControllerLink } from "./controller-link.ts";
import { corsHeaders, isPublic } from "./cors.ts";
import { headersEndToEnd, withoutCors, withoutForwarded, type RawHeaders } from "./headers.ts";
import { afterUnreadBody, bodyFraming, hasBody } from "./request-body.ts";
import type { RequestPath } from "./request-path.ts";

export interface ControllerRelay {
  controller: ControllerLink;
  forwarding: Forwarding;
  answerMs: number;
}

/** The origin of a request, as reported to the controller. */
export interface Forwarding {
  publicUrl: URL | undefined;
  trustForwarded: boolean;
}

/** Streams a request to the controller and its answer back. */
export async function relayToController(
  relay: ControllerRelay,
  request: IncomingMessage,
  response: ServerResponse,
  path: RequestPath,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => {
    // After a complete request and answer there is nothing to abort.
    if (!response.writableFinished || !request.complete) gone.abort();
  });
  const options = {
    method: request.method ?? "GET",
    path: path.raw + path.query,
    headers: headersForController(request, relay.forwarding),
    signal: gone.signal,
    needs: isStoreRead(request, path) ? ("any" as const) : ("leader" as const),
  };
  // A read without a body can be repeated once the controller is back.
  const repeatable = (request.method === "GET" || request.method === "HEAD") && !hasBody(request);
  for (let isFirst = true; ; isFirst = false) {
    try {
      const upstream = await relay.controller.open(options);
      const told = await exchangeHeads(upstream, request, relay.answerMs);
      return sendBack(told, response, path.raw);
    } catch (error) {
      if (gone.signal.aborted) return;
      if (isFirst && repeatable && !(error instanceof AppError)) continue;
      return answer(response, path.raw, toAnswer(error instanceof AppError ? error : unavailable(error)));
    }
  }
}

function exchangeHeads(
  upstream: ClientRequest,
  request: IncomingMessage,
  timeoutMs: number,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const fail = (error?: Error): void => {
      clearTimeout(timer);
      request.unpipe(upstream);
      upstream.destroy();
      reject(error ?? new Error("The controller broke off"));
    };
    const timer = setTimeout(() => fail(new AppError("SERVICE_UNAVAILABLE")), timeoutMs);
    if (upstream.destroyed) return fail();
    upstream.once("error", fail);
    const broken = (): void => fail();
    upstream.once("close", broken);
    upstream.once("upgrade", (_response, socket) => {
      socket.destroy();
      fail();
    });
    upstream.once("response", (told) => {
      clearTimeout(timer);
      upstream.off("close", broken); // errors of the answer are handled separately
      resolve(told);
    });
    if (hasBody(request)) request.pipe(upstream);
    else upstream.end();
  });
}

function sendBack(told: IncomingMessage, response: ServerResponse, path: string): void {
  const headers = headersEndToEnd(told.rawHeaders);
  response.writeHead(told.statusCode ?? 502, [
    ...(isPublic(path) ? withoutCors(headers) : headers),
    ...corsHeaders(path),
    ...afterUnreadBody(response),
  ]);
  response.flushHeaders(); // an event stream may be silent for a while
  pipeline(told, response, () => undefined); // destroys the connection if the controller aborts
}

/** Returns whether any controller can answer from the store. Sign-in and process figures need the leader. */
function isStoreRead(request: IncomingMessage, { raw }: RequestPath): boolean {
  const isRead = request.method === "GET" || request.method === "HEAD";
  return isRead && raw.startsWith("/v1/") && !hasBody(request);
}

function headersForController(
  request: IncomingMessage,
  { publicUrl, trustForwarded }: Forwarding,
): RawHeaders {
  const told = (name: string): string | undefined => {
    const value = trustForwarded ? request.headers[name] : undefined;
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  return [
    ...withoutForwarded(headersEndToEnd(request.rawHeaders)),
    ...bodyFraming(request),
    "x-forwarded-for",
    clientAddress(request, { trustForwarded }),
    "x-forwarded-proto",
    publicUrl?.protocol.slice(0, -1) ?? told("x-forwarded-proto") ?? "http",
    "x-forwarded-host",
    publicUrl?.host ?? told("x-forwarded-host") ?? request.headers.host ?? "",
  ];
}
