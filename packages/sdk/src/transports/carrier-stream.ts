import type { WebSocket } from "ws";
import type { CarrierStream } from "../telephony/carrier.ts";

const streams = new WeakMap<WebSocket, CarrierStream>();

/** Remembers whose call a socket carries, for the transport that is made on it. */
export function setStreamOf(socket: WebSocket, stream: CarrierStream): void {
  streams.set(socket, stream);
}

export function streamOf(socket: WebSocket): CarrierStream {
  const stream = streams.get(socket);
  if (!stream) throw new TypeError("This WebSocket carries no phone call");
  return stream;
}
