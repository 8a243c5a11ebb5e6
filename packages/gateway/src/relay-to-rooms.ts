import { AppError } from "@vocalhost/protocol";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import type { ClientSocket } from "./client-socket.ts";
import { KEEP_ALIVE_MS } from "./client-socket.ts";
import { headersEndToEnd } from "./headers.ts";
import { openInstanceSocket, parseAddress } from "./open-instance-socket.ts";
import { afterUnreadBody } from "./request-body.ts";
import type { RequestPath } from "./request-path.ts";
import type { SocketEnd, SocketRelay } from "./session-socket.ts";

/** Returns whether the path is one that clients of the room server need. Its service API is not exposed. */
export function isRoomPath({ raw }: RequestPath): boolean {
  return raw === "/rtc" || raw.startsWith("/rtc/");
}

/** Relays a participant's signalling to our room server, which verifies the token. */
export async function takeRoomSocket(
  { timing, limits, relayed }: SocketRelay,
  client: ClientSocket,
  { path, address }: { path: RequestPath; address: string | undefined },
): Promise<SocketEnd> {
  if (address === undefined) throw new AppError("NOT_FOUND");
  const server = await openInstanceSocket({
    address,
    token: tokenOf(client.request, path),
    path: path.raw + path.query,
    headers: [],
    protocols: client.protocols,
    connectMs: timing.instanceConnectMs,
    upgradeMs: timing.instanceUpgradeMs,
    headBytes: limits.headBytes,
  });
  if (client.gone.aborted) {
    server.socket.destroy();
    return { status: CLIENT_LEFT };
  }
  server.socket.setKeepAlive(true, KEEP_ALIVE_MS);
  client.accept(server.protocol);
  await relayed.relay({
    client: client.socket,
    instance: server.socket,
    fromClient: client.take(),
    fromInstance: server.head,
    timing,
    relayBytes: limits.relayBytes,
    isPinged: false, // both ends use their own ping messages
  }).ended;
  return { status: 101 };
}

/** Returns the token. A query may decode to line breaks, and the token becomes a header. */
function tokenOf({ headers: { authorization = "" } }: IncomingMessage, { query }: RequestPath): string {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const token = bearer ?? new URLSearchParams(query).get("access_token") ?? "";
  return /^[\x21-\x7e]+$/.test(token) ? token : "none";
}

const CLIENT_LEFT = 499; // only in the access log

/** `GET /rtc/validate`: returns why a join would be refused. */
export async function relayToRooms(
  request: IncomingMessage,
  response: ServerResponse,
  { path, address, timeoutMs }: { path: RequestPath; address: string | undefined; timeoutMs: number },
): Promise<void> {
  if (address === undefined || request.method !== "GET") throw new AppError("NOT_FOUND");
  const told = await new Promise<IncomingMessage>((resolve, reject) => {
    const upstream = httpRequest({
      ...parseAddress(address),
      agent: false,
      path: path.raw + path.query,
      headers: { host: address, ...authorizationOf(request), connection: "close" },
      timeout: timeoutMs,
    });
    upstream.once("response", resolve).once("error", reject);
    upstream.once("timeout", () => upstream.destroy(new Error("The room server does not answer")));
    response.once("close", () => upstream.destroy());
    upstream.end();
  }).catch((cause: unknown) => {
    throw new AppError("SERVICE_UNAVAILABLE", { cause });
  });
  response.writeHead(told.statusCode ?? 502, [
    ...headersEndToEnd(told.rawHeaders),
    ...afterUnreadBody(response),
  ]);
  pipeline(told, response, () => undefined);
}

function authorizationOf({ headers: { authorization } }: IncomingMessage): { authorization?: string } {
  return authorization === undefined ? {} : { authorization };
}
