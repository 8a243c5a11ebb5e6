import type { WebSocket } from "ws";
import type { Client } from "../client.ts";
import type { Session } from "../session.ts";

const NO_GOODBYE = 1006; // closed without a close frame: the network broke, or the process was killed

/** Makes a socket the session's client. The session ends when the socket closes or the other side vanishes. */
export function tieToSocket(session: Session, socket: WebSocket, more: Partial<Client> = {}): void {
  session.client = {
    id: undefined,
    isConnected: true,
    onConnected: () => undefined,
    close: () => socket.close(1000),
    closed: () => socketClosed(socket),
    ...more,
  };
  socket.on("error", (error) => session.log.debug({ reason: error.message }, "socket error"));
  socket.once("close", (code) => void session.end(code === NO_GOODBYE ? "client-lost" : "client-left"));
  watchSocket(socket);
}

// Destroying a socket with unsent data would lose the close frame.
async function socketClosed(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
}

const PING_MS = 15_000;
const MISSES_MAX = 2;
const UNREAD_MAX_BYTES = 1024 * 1024; // bounds memory for a client that pings without reading the answers

/** Pings a socket and ends it when the other side has vanished without a close. */
export function watchSocket(socket: WebSocket, pingMs: number = PING_MS): void {
  let misses = 0;
  const timer = setInterval(() => {
    if (misses >= MISSES_MAX) return socket.terminate();
    misses += 1;
    socket.ping();
  }, pingMs);
  socket.on("pong", () => {
    misses = 0;
  });
  socket.on("ping", () => {
    if (socket.bufferedAmount > UNREAD_MAX_BYTES) socket.terminate();
  });
  socket.once("close", () => clearInterval(timer));
}
