import type { WebSocket } from "ws";
import type { CarrierStream } from "@vocalhost/carriers";

interface Carried {
  stream: CarrierStream;
  callbackUrl: string | undefined;
}

const calls = new WeakMap<WebSocket, Carried>();

/** Remembers which call a socket carries, for the transport created on it. */
export function setStreamOf(socket: WebSocket, stream: CarrierStream, callbackUrl?: string): void {
  calls.set(socket, { stream, callbackUrl });
}

export function streamOf(socket: WebSocket): CarrierStream {
  const call = calls.get(socket);
  if (!call) throw new TypeError("This WebSocket carries no phone call");
  return call.stream;
}

/**
 * Returns the base URL where the carrier can ask what to do with the call; undefined where no carrier can reach
 * us.
 */
export function callbackUrlOf(socket: WebSocket): string | undefined {
  return calls.get(socket)?.callbackUrl;
}

const failed = new WeakSet<WebSocket>();

/** Marks the bot as failed: the socket is closed with that reason after hanging up. */
export function noteBotFailed(socket: WebSocket): void {
  failed.add(socket);
}

export function closeStream(socket: WebSocket): void {
  if (failed.has(socket)) socket.close(1011, "bot failed");
  else socket.close(1000);
}
