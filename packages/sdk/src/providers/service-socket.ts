import { WebSocket } from "ws";
import { hint, ServiceError } from "./request.ts";

/** A WebSocket to a vendor that uses JSON. Messages sent before it is open are queued. */
export interface ServiceSocket {
  send(message: object | Uint8Array): void;
  readonly isOpen: boolean;
  /** Resolves when it is open. Rejects with the vendor's refusal. */
  readonly opened: Promise<void>;
  close(): void;
}

export interface ServiceSocketOptions {
  vendor: string;
  url: string;
  headers: Record<string, string>;
  onMessage(message: unknown): void;
  /** Called when it is closed; without an error after `close`. */
  onEnd(error: ServiceError | undefined): void;
}

const OPEN_TIMEOUT_MS = 10_000;
const WAITING_MAX_BYTES = 1_000_000; // half a minute of speech: a vendor that takes longer has failed

export function openServiceSocket(options: ServiceSocketOptions): ServiceSocket {
  const { vendor } = options;
  const socket = new WebSocket(options.url, {
    headers: options.headers,
    perMessageDeflate: false,
    handshakeTimeout: OPEN_TIMEOUT_MS,
  });
  let isClosing = false;
  let failure: ServiceError | undefined;
  let waitingBytes = 0;
  const waiting: (string | Uint8Array)[] = [];
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
  opened.catch(() => undefined);

  socket.on("open", () => {
    for (const message of waiting.splice(0)) socket.send(message);
    resolve();
  });
  socket.on("unexpected-response", (_request, response) => {
    failure = new ServiceError(`${vendor} answered ${response.statusCode}${hint(response.statusCode)}`, {
      status: response.statusCode,
    });
    response.resume();
    socket.terminate();
  });
  socket.on("error", (error) => {
    failure ??= new ServiceError(`${vendor} cannot be reached`, { cause: error });
  });
  socket.on("message", (data: Buffer) => {
    try {
      options.onMessage(JSON.parse(data.toString()) as unknown);
    } catch (error) {
      failure ??= new ServiceError(`${vendor} sent something unexpected`, { cause: error });
      socket.close();
    }
  });
  socket.on("close", (code, reason) => {
    const why = reason.toString();
    const ended = failure ?? new ServiceError(`${vendor} closed the connection (${code})`, { answer: why });
    reject(ended);
    options.onEnd(isClosing && !failure ? undefined : ended);
  });

  return {
    opened,
    get isOpen() {
      return socket.readyState === WebSocket.OPEN || socket.readyState === WebSocket.CONNECTING;
    },
    send(message) {
      const data = message instanceof Uint8Array ? message : JSON.stringify(message);
      if (socket.readyState === WebSocket.OPEN) return socket.send(data);
      if (socket.readyState !== WebSocket.CONNECTING) return;
      waitingBytes += data.length;
      if (waitingBytes <= WAITING_MAX_BYTES) waiting.push(typeof data === "string" ? data : data.slice());
    },
    close() {
      isClosing = true;
      if (socket.readyState === WebSocket.CONNECTING) socket.terminate();
      else socket.close();
    },
  };
}
