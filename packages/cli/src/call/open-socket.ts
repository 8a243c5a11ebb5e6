import type { CallSocket } from "@vocalhost/simulator";
import { WebSocket } from "ws";
import { refusedRequest, unreachable } from "../connection-problem.ts";
import type { Problem } from "../problem.ts";
import { version } from "../version.ts";
import type { BotStream } from "./find-stream.ts";

/** The socket of a call, and what went wrong with it. */
export interface DialledSocket {
  readonly socket: CallSocket;
  /** Undefined unless the connection could not be made. */
  readonly problem: Problem | undefined;
}

export function openSocket(stream: BotStream): DialledSocket {
  const socket = new WebSocket(stream.url, {
    headers: { "user-agent": `vocalhost-call/${version}`, ...stream.headers },
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  let problem: Problem | undefined;
  socket.on("unexpected-response", (_request, response) => {
    const pieces: Buffer[] = [];
    response.on("data", (piece: Buffer) => {
      if (pieces.length < MAX_PIECES) pieces.push(piece);
    });
    response.on("close", () => {
      const body = Buffer.concat(pieces).toString();
      problem = refusedRequest({ what: "stream", ...stream, status: response.statusCode ?? 0, body });
      socket.terminate();
    });
  });
  socket.on("error", (error) => {
    problem ??= unreachable(stream.url, error);
  });
  return {
    socket,
    get problem() {
      return problem;
    },
  };
}

const MAX_MESSAGE_BYTES = 4 * 1024 * 1024; // 30 s of L16 at 24 kHz, the most a carrier takes, and then some
const MAX_PIECES = 16; // of an error page; the beginning says it all
