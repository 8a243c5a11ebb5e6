import { DisconnectReason, LeaveRequest_Action, SignalResponse } from "@livekit/protocol";
import { once } from "node:events";
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { admit, JoinRefused, type Admission } from "./admission.ts";
import { attend, type Attendance } from "./attendance.ts";
import type { Log } from "./log.ts";
import { leave } from "./room.ts";
import type { RoomTable } from "./room-table.ts";

/** `/rtc` and `/rtc/validate`: the way into a room. */
export interface RtcEndpoint extends AsyncDisposable {
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean;
  /** With `mediaAddress` the participant sends media there, not to the common address. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, mediaAddress?: string): boolean;
}

interface Arrival {
  socket: WebSocket;
  remoteAddress: string;
  mediaAddress: string | undefined;
}

export interface RtcEndpointOptions {
  table: RoomTable;
  /** By participant sid. */
  attendances: Map<string, Attendance>;
  log: Log;
}

const GOING_AWAY = 1001;
const CLOSING_HANDSHAKE_MS = 500; // then the sockets of clients that do not answer are cut
const PLAIN_HEADERS = { "content-type": "text/plain", "access-control-allow-origin": "*" };

export function createRtcEndpoint(options: RtcEndpointOptions): RtcEndpoint {
  return new Endpoint(options);
}

class Endpoint implements RtcEndpoint {
  readonly #options: RtcEndpointOptions;
  readonly #sockets: WebSocketServer;

  constructor(options: RtcEndpointOptions) {
    this.#options = options;
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: options.table.settings.limits.signalMessageBytes,
      perMessageDeflate: false,
    });
  }

  handleRequest(request: IncomingMessage, response: ServerResponse): boolean {
    const path = pathOf(request);
    if (path === "/rtc/validate") void this.#answerValidate(request, response);
    else if (path === "/rtc/v1" || path === "/rtc/v1/validate") {
      // Clients that know the newer join path take this for a server that does not, and use `/rtc`.
      response.writeHead(404, PLAIN_HEADERS).end("not found");
    } else if (path === "/rtc") response.writeHead(404).end();
    else return false;
    return true;
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, mediaAddress?: string): boolean {
    const path = pathOf(request);
    if (path === "/rtc") void this.#answerUpgrade(request, socket, { head, mediaAddress });
    else if (path.startsWith("/rtc/")) socket.end(plainAnswer(404, "not found"));
    else return false;
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const sockets = this.#sockets;
    const closed = once(sockets, "close");
    sockets.close();
    for (const socket of sockets.clients) socket.close(GOING_AWAY);
    const timer = setTimeout(() => {
      for (const socket of sockets.clients) socket.terminate();
    }, CLOSING_HANDSHAKE_MS);
    await closed;
    clearTimeout(timer);
  }

  async #answerValidate(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await admit(this.#options.table, attemptOf(request));
      response.writeHead(200, PLAIN_HEADERS).end("success");
    } catch (error) {
      const { status, message } = this.#refusalOf(error);
      response.writeHead(status, PLAIN_HEADERS).end(message);
    }
  }

  async #answerUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    { head, mediaAddress }: { head: Buffer; mediaAddress: string | undefined },
  ): Promise<void> {
    socket.on("error", () => socket.destroy());
    try {
      const admission = await admit(this.#options.table, attemptOf(request));
      const remoteAddress = request.socket.remoteAddress ?? "";
      this.#sockets.handleUpgrade(request, socket, head, (accepted) =>
        this.#enter(admission, { socket: accepted, remoteAddress, mediaAddress }),
      );
    } catch (error) {
      const { status, message } = this.#refusalOf(error);
      socket.end(plainAnswer(status, message));
    }
  }

  #enter(admission: Admission, { socket, remoteAddress, mediaAddress }: Arrival): void {
    const { table, attendances } = this.#options;
    if (admission.resumes !== undefined) {
      const before = attendances.get(admission.resumes);
      const isSame =
        before?.participant.identity === admission.grants.identity && before.room.name === admission.roomName;
      if (before && isSame) return before.resume(socket, remoteAddress);
      return sendAway(socket);
    }
    const room = table.open(admission.roomName);
    const attendance = attend({ room, admission, socket, remoteAddress, mediaAddress });
    attendances.set(attendance.participant.sid, attendance);
  }

  #refusalOf(error: unknown): { status: number; message: string } {
    if (error instanceof JoinRefused) return error;
    this.#options.log.error({ err: error }, "join failed");
    return { status: 500, message: "internal error" };
  }
}

/** Tells the client to join anew: the participant it wants to resume is gone. */
function sendAway(socket: WebSocket): void {
  const message = leave(DisconnectReason.STATE_MISMATCH, LeaveRequest_Action.RECONNECT);
  socket.send(new SignalResponse({ message }).toBinary());
  socket.close(1000, "connect anew");
}

function attemptOf(request: IncomingMessage): Parameters<typeof admit>[1] {
  const query = new URL(request.url ?? "/", "http://localhost").searchParams;
  return { query, authorization: request.headers.authorization };
}

function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0]?.replace(/^\/\//, "/") ?? "/";
}

function plainAnswer(status: number, message: string): string {
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "content-type: text/plain",
    `content-length: ${Buffer.byteLength(message)}`,
    "connection: close",
    "",
    message,
  ].join("\r\n");
}
