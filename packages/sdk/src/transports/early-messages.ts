import type { WebSocket } from "ws";

const EARLY_MAX_BYTES = 1024 * 1024; // what a client may say before the bot listens

/** Keeps what arrives before somebody listens and hands it to the first listener, in order. */
export function keepEarlyMessages(socket: WebSocket): void {
  const early: { data: unknown; isBinary: boolean }[] = [];
  let bytes = 0;

  function keep(data: { length?: number; byteLength?: number }, isBinary: boolean): void {
    bytes += data.byteLength ?? data.length ?? 0;
    if (bytes <= EARLY_MAX_BYTES) early.push({ data, isBinary });
  }

  function hand(event: string | symbol): void {
    if (event !== "message") return;
    socket.off("newListener", hand);
    socket.off("message", keep);
    queueMicrotask(() => {
      for (const { data, isBinary } of early) socket.emit("message", data, isBinary);
    });
  }

  socket.on("message", keep);
  socket.on("newListener", hand);
}
