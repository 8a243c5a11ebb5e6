import { AppError } from "@vocalhost/protocol";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { closeFrame } from "./frame-tracker.ts";
import { tokensOf, valuesOf } from "./headers.ts";
import { acceptFor } from "./open-instance-socket.ts";

/** A client's socket before it is relayed. Its data is buffered until `take`. */
export interface ClientSocket {
  readonly socket: Socket;
  readonly request: IncomingMessage;
  readonly protocols: string[];
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
  /** The upgrade has been accepted. */
  readonly isOpen: boolean;
  accept(protocol: string | undefined): void;
  /** Passes the buffered and all further data to the watcher without consuming it. */
  watch(watcher: (chunk: Buffer) => void): void;
  /** Sets the size of the buffer; the socket is paused while it is full. */
  keepUpTo(bytes: number): void;
  /** Hands the socket and its buffered bytes to the caller. */
  take(): Buffer;
  /** Sends a close frame to a client whose upgrade was accepted. */
  close(code: number, reason: string, goodbyeMs: number): void;
}

/** Throws unless the request is a WebSocket upgrade according to RFC 6455. */
export function checkUpgradeRequest(request: IncomingMessage): void {
  const { headers, method, httpVersion } = request;
  if (method !== "GET" || httpVersion !== "1.1")
    throw badRequest("A WebSocket begins with a GET of HTTP/1.1");
  if (headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined)
    throw badRequest("An upgrade has no body");
  if (valuesOf(request.rawHeaders, "sec-websocket-version").join() !== "13")
    throw badRequest("Sec-WebSocket-Version must be 13");
  const keys = valuesOf(request.rawHeaders, "sec-websocket-key");
  if (keys.length !== 1 || !/^[+/0-9A-Za-z]{22}==$/.test(keys[0] ?? ""))
    throw badRequest("Sec-WebSocket-Key is not valid");
  if (!tokensOf(request.rawHeaders, "connection").includes("upgrade"))
    throw badRequest("Connection must name the upgrade");
  for (const protocol of protocolsOf(request))
    if (!TOKEN.test(protocol)) throw badRequest("Sec-WebSocket-Protocol is not valid");
}

export interface HoldClientOptions {
  request: IncomingMessage;
  socket: Socket;
  head: Buffer;
  keepBytes: number;
}

export function holdClient({ request, socket, head, keepBytes }: HoldClientOptions): ClientSocket {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  let early = [head];
  let earlyBytes = head.length;
  let limit = keepBytes;
  let watcher: ((chunk: Buffer) => void) | undefined;
  let isOpen = false;

  const onData = (chunk: Buffer): void => {
    early.push(chunk);
    earlyBytes += chunk.length;
    if (early.length > CHUNKS_MAX) early = [Buffer.concat(early)];
    if (earlyBytes >= limit) socket.pause();
    watcher?.(chunk);
  };
  socket.setTimeout(0);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  socket.on("error", () => undefined); // "close" follows
  socket.on("data", onData).once("end", leave).once("close", leave);
  if (socket.destroyed || socket.readableEnded) leave();
  if (earlyBytes >= limit) socket.pause();
  else socket.resume();

  return {
    socket,
    request,
    protocols: protocolsOf(request),
    gone: gone.signal,
    get isOpen() {
      return isOpen;
    },
    accept(protocol) {
      isOpen = true;
      const key = request.headers["sec-websocket-key"] ?? "";
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
          `Sec-WebSocket-Accept: ${acceptFor(key)}\r\n` +
          (protocol === undefined ? "" : `Sec-WebSocket-Protocol: ${protocol}\r\n`) +
          "\r\n",
        "latin1",
      );
    },
    watch(next) {
      watcher = next;
      for (const chunk of [...early]) watcher?.(chunk);
    },
    keepUpTo(bytes) {
      limit = bytes;
      if (earlyBytes < limit) socket.resume();
    },
    take() {
      socket.pause();
      socket.off("data", onData).off("end", leave);
      watcher = undefined;
      const taken = Buffer.concat(early);
      early = [];
      return taken;
    },
    close(code, reason, goodbyeMs) {
      watcher = undefined;
      socket.off("data", onData).resume();
      socket.end(closeFrame(code, reason));
      setTimeout(() => socket.destroy(), goodbyeMs).unref();
    },
  };
}

/** libuv probes ten times, a second apart: a silent peer is detected after 20 s */
export const KEEP_ALIVE_MS = 10_000;

const CHUNKS_MAX = 256; // many small chunks are joined, so that they do not cost a buffer each
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function protocolsOf(request: IncomingMessage): string[] {
  return valuesOf(request.rawHeaders, "sec-websocket-protocol")
    .flatMap((value) => value.split(","))
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== "");
}

function badRequest(message: string): AppError {
  return new AppError("GENERIC_BAD_REQUEST", { message });
}
