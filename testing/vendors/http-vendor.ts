import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { listenOnLoopback } from "../loopback-server.ts";

/** A vendor's service on this machine. It takes what the vendor documents and refuses everything else. */
export interface Vendor extends AsyncDisposable {
  readonly url: string;
  /** Requests and messages it refused, and why. Tests look here: a client may have hidden it. */
  readonly refused: string[];
}

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
  const server = createServer((request, response) => {
    void handle(request, response);
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const asked = asRequest(request, await bodyOf(request));
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
    const outcome = options.upgrade?.(asRequest(request, Buffer.alloc(0))) ?? { status: 404 };
    if (typeof outcome === "function")
      return sockets.handleUpgrade(request, socket, head, (opened) => outcome(opened));
    refused.push(`upgrade ${request.url}: ${outcome.status}`);
    return socket.end(`HTTP/1.1 ${outcome.status} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  });

  const listening = await listenOnLoopback(server);
  return {
    url: listening.url,
    refused,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      await listening[Symbol.asyncDispose]();
    },
  };
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
