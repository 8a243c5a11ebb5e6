import type { WebSocket } from "ws";
import type { Client } from "../client.ts";
import type { Session } from "../session.ts";
import { watchSocket } from "../watch-socket.ts";

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

// A socket that is destroyed with unsent data loses the goodbye.
async function socketClosed(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
}
