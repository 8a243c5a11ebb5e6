import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { listenOnLoopback } from "../loopback-server.ts";

/** A vendor's service on this machine. It takes what the vendor documents and refuses everything else. */
export interface Vendor extends AsyncDisposable {
  readonly url: string;
  /** Requests and messages it refused, and why. Tests look here: a client may have hidden it. */
  readonly refused: string[];
  /** Goes wrong like this from now on, until it is mended. */
  fail(fault: Fault | undefined): void;
}

/** `garbles`: a page of HTML with the label of what was asked for. `…-midway`: after the beginning of an answer. */
export type Fault = "refuses" | "closes" | "stalls" | "garbles" | "closes-midway" | "stalls-midway";

export interface VendorOptions {
  request?(request: VendorRequest, response: ServerResponse): void | Promise<void>;
  /** Gives what the upgrade is refused with, or takes the socket. */
  upgrade?(request: VendorRequest): { status: number } | ((socket: WebSocket) => void);
}

export interface VendorRequest {
  method: string;
  url: URL;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

/** Thrown by what a stand-in does with a request. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export async function startVendor(options: VendorOptions): Promise<Vendor> {
  const refused: string[] = [];
  const sockets = new WebSocketServer({ noServer: true });
  let fault: Fault | undefined;
  const server = createServer((request, response) => {
    void handle(request, response);
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const asked = asRequest(request, await bodyOf(request));
      if (fault === "refuses") throw new Refusal(503, "out of order");
      if (fault === "closes") return void request.socket.destroy();
      if (fault === "stalls") return;
      if (fault !== undefined) spoil(response, fault);
      if (!options.request) throw new Refusal(404, `No ${asked.url.pathname} here`);
      await options.request(asked, response);
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 500;
      refused.push(`${request.method} ${request.url}: ${String(error)}`);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ error: { message: error instanceof Error ? error.message : String(error) } }),
      );
    }
  }

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const outcome =
      fault === "refuses"
        ? { status: 503 }
        : (options.upgrade?.(asRequest(request, Buffer.alloc(0))) ?? { status: 404 });
    if (typeof outcome === "function")
      return sockets.handleUpgrade(request, socket, head, (opened) => {
        const emit = opened.emit.bind(opened);
        spoilMidway(opened, () => fault);
        opened.emit = (event: string, ...args: unknown[]) => {
          if (event !== "message" || fault === undefined || fault.endsWith("midway"))
            return emit(event, ...args);
          if (fault === "garbles") opened.send(PAGE);
          if (fault === "closes") opened.terminate();
          return true;
        };
        outcome(opened);
      });
    refused.push(`upgrade ${request.url}: ${outcome.status}`);
    return socket.end(`HTTP/1.1 ${outcome.status} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  });

  const listening = await listenOnLoopback(server);
  return {
    url: listening.url,
    refused,
    fail(next) {
      fault = next;
      if (fault === "refuses") for (const socket of sockets.clients) socket.terminate();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      await listening[Symbol.asyncDispose]();
    },
  };
}

const PAGE = "<!doctype html><html><head><title>Bad gateway</title></head><body>Bad gateway</body></html>";
const BEGINNING_BYTES = { "text/event-stream": 900, "audio/pcm": 19_200 }; // a sentence, 400 ms

/** Spoils the answer that is about to be written. */
function spoil(response: ServerResponse, fault: Fault): void {
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  const isGarbled = fault === "garbles";
  let left = Infinity;
  const spoiled = (chunk?: unknown): boolean => {
    if (isGarbled || chunk === undefined || left <= 0) return true;
    const type = String(response.getHeader("content-type") ?? typeOf(response));
    left = Math.min(left, BEGINNING_BYTES[type as keyof typeof BEGINNING_BYTES] ?? 0);
    left -= Buffer.byteLength(chunk as string | Buffer);
    return write(chunk);
  };
  response.write = spoiled as typeof response.write;
  response.end = ((chunk?: unknown) => {
    if (isGarbled) return end(PAGE);
    spoiled(chunk);
    if (fault === "closes-midway") setTimeout(() => response.socket?.destroy(), 20);
    return response;
  }) as typeof response.end;
}

const BEGINNING_OF_MESSAGES = 30_000; // some words of sound in base64

/** Lets no more of an answer through than its beginning. */
function spoilMidway(socket: WebSocket, fault: () => Fault | undefined): void {
  const send = socket.send.bind(socket) as (data: string | Buffer) => void;
  let left = BEGINNING_OF_MESSAGES;
  socket.send = ((data: string | Buffer) => {
    if (!fault()?.endsWith("midway")) return send(data);
    left -= data.length;
    if (left > 0) return send(data);
    if (fault() === "closes-midway") setTimeout(() => socket.terminate(), 20);
  }) as typeof socket.send;
}

/** As `writeHead` was given it: those headers cannot be read otherwise. */
function typeOf(response: ServerResponse): string {
  return (
    /content-type: ([^\r;]*)/i.exec((response as unknown as { _header: string | null })._header ?? "")?.[1] ??
    ""
  );
}

function asRequest(request: IncomingMessage, body: Buffer): VendorRequest {
  return {
    method: request.method ?? "",
    url: new URL(request.url ?? "/", "http://vendor"),
    headers: request.headers,
    body,
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
