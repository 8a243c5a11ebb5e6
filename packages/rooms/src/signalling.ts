import { SignalRequest, SignalResponse } from "@livekit/protocol";
import type { RawData, WebSocket } from "ws";
import { fromJson } from "./from-json.ts";
import { createRateLimit } from "./rate-limit.ts";

export type SignalRequestMessage = SignalRequest["message"];
export type SignalResponseMessage = SignalResponse["message"];

/** One participant's signalling socket. */
export interface SignalConnection {
  /** Where it comes from; another address means another network. */
  readonly remoteAddress: string;
  send(message: SignalResponseMessage): void;
  /** Says no more and hears no more. */
  close(reason: string): void;
}

export interface SignalConnectionOptions {
  remoteAddress: string;
  messagesPerSecond: number;
  /** Silence after which the socket is taken for dead. */
  silenceMs: number;
  request(message: SignalRequestMessage): void;
  /** The socket is gone, not by our own close. */
  lost(reason: string): void;
}

const UNSENT_MAX_BYTES = 8 * 1024 * 1024; // a client that reads nothing is gone
const NORMAL_CLOSE = 1000;
const PROTOCOL_ERROR = 1002;
const POLICY_VIOLATION = 1008;

export function createSignalConnection(
  socket: WebSocket,
  options: SignalConnectionOptions,
): SignalConnection {
  const rate = createRateLimit(options.messagesPerSecond);
  let isJson = false;
  let over = false;

  const silence = setTimeout(() => lose("silent"), options.silenceMs);

  function end(): boolean {
    if (over) return false;
    over = true;
    clearTimeout(silence);
    return true;
  }

  function lose(reason: string, code?: number): void {
    if (!end()) return;
    if (code === undefined) socket.terminate();
    else socket.close(code, reason);
    options.lost(reason);
  }

  socket.on("message", (data, isBinary) => {
    if (over) return;
    silence.refresh();
    if (!rate.take()) return lose("too many signal messages", POLICY_VIOLATION);
    isJson = !isBinary;
    const request = parseRequest(data, isBinary);
    if (request) return options.request(request.message);
    return lose("malformed signal message", PROTOCOL_ERROR);
  });
  socket.on("error", () => lose("socket failed"));
  socket.on("close", () => lose("socket closed"));

  return {
    remoteAddress: options.remoteAddress,
    send(message) {
      if (over) return;
      if (socket.bufferedAmount > UNSENT_MAX_BYTES) return lose("does not read");
      const response = new SignalResponse({ message });
      socket.send(isJson ? response.toJsonString() : response.toBinary());
    },
    close(reason) {
      if (end()) socket.close(NORMAL_CLOSE, reason);
    },
  };
}

function parseRequest(data: RawData, isBinary: boolean): SignalRequest | undefined {
  try {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as ArrayBuffer);
    return isBinary ? SignalRequest.fromBinary(bytes) : fromJson(SignalRequest, bytes);
  } catch {
    return undefined;
  }
}
