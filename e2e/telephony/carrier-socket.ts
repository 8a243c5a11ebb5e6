import { WebSocket, type ClientOptions } from "ws";
import { within } from "../../testing/wait.ts";

/** A bare WebSocket a carrier might have opened: every message is written by the test. */
export interface CarrierSocket extends Disposable {
  readonly socket: WebSocket;
  /** Received messages, oldest first. */
  readonly received: Record<string, unknown>[];
  say(...messages: (object | string)[]): void;
  closed(timeoutMs?: number): Promise<{ code: number; reason: string }>;
}

export type Upgraded =
  | { status: 101; socket: CarrierSocket }
  | { status: number; body: string; socket: undefined };

const UPGRADE_DEADLINE_MS = 10_000;

export async function openCarrierSocket(url: string, options: ClientOptions = {}): Promise<CarrierSocket> {
  const upgraded = await tryCarrierSocket(url, options);
  if (!upgraded.socket) throw new Error(`The WebSocket was refused with ${upgraded.status}`);
  return upgraded.socket;
}

export function tryCarrierSocket(url: string, options: ClientOptions = {}): Promise<Upgraded> {
  const { promise, resolve, reject } = Promise.withResolvers<Upgraded>();
  const socket = new WebSocket(url, { perMessageDeflate: false, ...options });
  const received: Record<string, unknown>[] = [];
  const over = Promise.withResolvers<{ code: number; reason: string }>();
  socket.on("message", (data: Buffer) =>
    received.push(JSON.parse(data.toString()) as Record<string, unknown>),
  );
  socket.on("close", (code, reason) => over.resolve({ code, reason: reason.toString() }));
  socket.on("error", reject); // after the opening this is allowed
  socket.on("unexpected-response", (_request, response) => {
    let body = "";
    response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    response.on("close", () => resolve({ status: response.statusCode ?? 0, body, socket: undefined }));
  });
  const opened: CarrierSocket = {
    socket,
    received,
    say(...messages) {
      for (const message of messages)
        socket.send(typeof message === "string" ? message : JSON.stringify(message));
    },
    closed: (timeoutMs = 15_000) => within(over.promise, timeoutMs, "close of the WebSocket"),
    [Symbol.dispose]: () => socket.terminate(),
  };
  socket.on("open", () => resolve({ status: 101, socket: opened }));
  return within(promise, UPGRADE_DEADLINE_MS, `answer to the upgrade of ${url}`);
}
