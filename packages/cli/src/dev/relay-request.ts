import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import type { Generation } from "./generation.ts";

/**
 * Passes a request on and gives the answer's head once it is there. We close the connection, not the other side: on a
 * local socket that would turn the end of our request into an error, and its answer would be lost.
 */
export function sendOn(generation: Generation, exchange: Exchange): Promise<IncomingMessage> {
  const { request, response, body } = exchange;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isChunked = body === undefined && request.headers["transfer-encoding"] !== undefined;
  const upstream = httpRequest({
    socketPath: generation.socketPath,
    agent: false,
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers: [
      ...endToEnd(request.rawHeaders),
      ...(isChunked ? ["transfer-encoding", "chunked"] : []),
      ...(body !== undefined && request.headers["content-length"] === undefined
        ? ["content-length", String(body.length)]
        : []),
      ...["connection", "keep-alive"],
    ],
    setHost: false,
  });
  upstream.on("error", reject).once("response", resolve);
  response.once("close", () => upstream.destroy());
  if (body === undefined) request.pipe(upstream);
  else upstream.end(body);
  return promise;
}

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Set when it was read already. */
  body?: Buffer | undefined;
}

export function sendBack(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, endToEnd(answer.rawHeaders));
  response.flushHeaders();
  pipeline(answer, response, () => undefined); // breaks off when the other side does
}

/** A whole body, unless it is larger than allowed. */
export async function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of message as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const HOP_BY_HOP = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "expect"]);

/** Names and values in turn, without what concerns one connection only. */
export function endToEnd(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !HOP_BY_HOP.has(raw[at - (at % 2)]?.toLowerCase() ?? ""));
}
