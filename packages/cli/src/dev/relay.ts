import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline, type Duplex } from "node:stream";
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
function endToEnd(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !HOP_BY_HOP.has(raw[at - (at % 2)]?.toLowerCase() ?? ""));
}

/**
 * Joins a WebSocket with the first of these that takes it. A one-time token is known only to the code that issued
 * it, so a refusal of the newest is no answer yet.
 */
export async function relayUpgrade({ request, client, head, candidates }: Upgrade): Promise<void> {
  client.on("error", () => undefined); // "close" follows
  let refusal: Refusal | undefined;
  for (const generation of candidates) {
    const hold = generation.hold();
    const outcome = await knock(generation, request, client).catch(() => undefined);
    if (client.destroyed) {
      hold[Symbol.dispose]();
      if (outcome && "socket" in outcome) outcome.socket.destroy();
      return;
    }
    if (outcome && "socket" in outcome) {
      const timer = setTimeout(() => hold[Symbol.dispose](), NAMING_MS);
      client.once("close", () => (clearTimeout(timer), hold[Symbol.dispose]()));
      return join(client, head, outcome);
    }
    hold[Symbol.dispose]();
    refusal ??= outcome;
    if (outcome && outcome.status !== 403 && outcome.status !== 404) break;
  }
  client.end(refusal?.bytes ?? UNAVAILABLE);
}

interface Upgrade {
  request: IncomingMessage;
  client: Duplex;
  head: Buffer;
  candidates: readonly Generation[];
}

interface Joined {
  answer: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

interface Refusal {
  status: number;
  bytes: Buffer;
}

const NAMING_MS = 12_000; // a carrier has ten seconds to name its call; only then it is a session
const LAST_BYTES_MS = 5_000;
const REFUSAL_MAX_BYTES = 64 * 1024;
const UNAVAILABLE = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

function knock(generation: Generation, request: IncomingMessage, client: Duplex): Promise<Joined | Refusal> {
  const { promise, resolve, reject } = Promise.withResolvers<Joined | Refusal>();
  const upstream = httpRequest({
    socketPath: generation.socketPath,
    agent: false,
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers: request.rawHeaders,
    setHost: false,
  });
  upstream.on("error", reject);
  upstream.once("upgrade", (answer, socket, head) => resolve({ answer, socket, head }));
  upstream.once("response", (answer) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    answer.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= REFUSAL_MAX_BYTES) pieces.push(piece);
    });
    answer.once("end", () => resolve(toRefusal(answer, Buffer.concat(pieces))));
    answer.once("error", reject);
  });
  client.once("close", () => reject(new Error("The client is gone")));
  upstream.end();
  return promise;
}

function toRefusal(answer: IncomingMessage, body: Buffer): Refusal {
  const status = answer.statusCode ?? 502;
  const headers = answer.rawHeaders.filter((_, at) => {
    const name = answer.rawHeaders[at - (at % 2)]?.toLowerCase();
    return name !== "transfer-encoding" && name !== "connection" && name !== "content-length";
  });
  headers.push("content-length", String(body.length), "connection", "close");
  return { status, bytes: Buffer.concat([headOf(answer, headers), body]) };
}

function join(client: Duplex, head: Buffer, { answer, socket, head: first }: Joined): void {
  client.write(headOf(answer, answer.rawHeaders));
  if (first.length > 0) client.write(first);
  if (head.length > 0) socket.write(head);
  socket.on("error", () => undefined);
  client.once("close", () => finish(socket));
  socket.once("close", () => finish(client));
  client.pipe(socket);
  socket.pipe(client);
}

// The last bytes may still be on their way.
function finish(stream: Duplex): void {
  if (stream.destroyed) return;
  stream.end();
  const timer = setTimeout(() => stream.destroy(), LAST_BYTES_MS);
  stream.once("close", () => clearTimeout(timer));
}

function headOf(answer: IncomingMessage, rawHeaders: readonly string[]): Buffer {
  const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}
