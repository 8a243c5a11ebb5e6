import type { RawData, WebSocket } from "ws";
import { bytesOf, textOf } from "./socket-data.ts";

/** Messages that arrived before the bot listened. */
export interface EarlyMessages {
  /** Resolves with the text of the message at this position; undefined when the socket closed before. */
  peek(place: number): Promise<string | undefined>;
}

const EARLY_MAX_BYTES = 1024 * 1024; // bounds the messages a client may send before the bot listens
const MESSAGE_COST_BYTES = 256; // memory per kept message, even an empty one

/** Keeps messages until there is a listener, and passes them on in order. */
export function keepEarlyMessages(socket: WebSocket): EarlyMessages {
  const kept: { data: RawData; isBinary: boolean }[] = [];
  let bytes = 0;
  let arrived = Promise.withResolvers<void>();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));

  function keep(data: RawData, isBinary: boolean): void {
    bytes += bytesOf(data).length + MESSAGE_COST_BYTES;
    if (bytes <= EARLY_MAX_BYTES) kept.push({ data, isBinary });
    arrived.resolve();
    arrived = Promise.withResolvers();
  }

  function hand(event: string | symbol): void {
    if (event !== "message") return;
    socket.off("newListener", hand);
    socket.off("message", keep);
    queueMicrotask(() => {
      for (const { data, isBinary } of kept.splice(0)) socket.emit("message", data, isBinary);
    });
  }

  socket.on("message", keep);
  socket.on("newListener", hand);
  return {
    async peek(place) {
      while (kept.length <= place) {
        if (socket.readyState >= socket.CLOSING) return undefined;
        await Promise.race([arrived.promise, closed]);
      }
      return textOf(kept[place]!.data);
    },
  };
}
