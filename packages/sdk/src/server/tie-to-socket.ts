import type { WebSocket } from "ws";
import type { Session } from "./session.ts";
import { watchSocket } from "./watch-socket.ts";

/** The session ends when its socket closes, a vanished client included. */
export function tieToSocket(session: Session, socket: WebSocket): void {
  session.socket = socket;
  socket.on("error", (error) => session.log.debug({ reason: error.message }, "socket error"));
  socket.once("close", () => void session.end("client-left"));
  watchSocket(socket);
}
