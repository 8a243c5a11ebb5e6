/** The part of a WebSocket a call needs; the browser's and that of `ws` both have it. */
export interface CallSocket {
  readonly readyState: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { code: number; reason: string }) => void): void;
  addEventListener(type: "error", listener: (event: object) => void): void;
}

export const SOCKET_OPEN = 1;

/** With the WebSocket of the browser, which sends no headers of ours. */
export function openWebSocket(url: string): CallSocket {
  return new WebSocket(url);
}
