import type { RawData } from "ws";

/** Returns the bytes of a WebSocket message, in whichever form they arrived. */
export function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? Buffer.from(data) : data;
}

export function textOf(data: RawData): string {
  return bytesOf(data).toString("utf8");
}
