import type { WebSocket } from "ws";

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
