import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "./log.ts";
import { notHere, ROOM_METHODS } from "./room-methods.ts";
import type { RoomTable } from "./room-table.ts";
import { TokenRefused, verifyToken, type Grants } from "./tokens.ts";
import { ServiceError } from "./service-error.ts";

/** The calls LiveKit's server SDKs make: `POST /twirp/livekit.RoomService/{Method}`, JSON or protobuf. */
export interface RoomService {
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean;
}

const TWIRP = "/twirp/livekit.";
const ROOM_SERVICE = "RoomService";
const JSON_TYPE = "application/json";
const PROTOBUF_TYPE = "application/protobuf";

export function createRoomService({ table, log }: { table: RoomTable; log: Log }): RoomService {
  async function call(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const contentType = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase();
    if (request.method !== "POST")
      throw new ServiceError("bad_route", "unsupported method (only POST is allowed)");
    if (contentType !== JSON_TYPE && contentType !== PROTOBUF_TYPE)
      throw new ServiceError("bad_route", `unexpected Content-Type: "${contentType}"`);
    const method = methodOf(request.url ?? "");
    const body = await readBody(request, table.settings.limits.requestBytes);
    const grants = await grantsOf(request, table);
    const isJson = contentType === JSON_TYPE;
    const answer = await method(body, { isJson, table, grants });
    const bytes = isJson
      ? Buffer.from(answer.toJsonString({ emitDefaultValues: true, useProtoFieldName: true }))
      : answer.toBinary();
    response.writeHead(200, { "content-type": contentType }).end(bytes);
  }

  return {
    handleRequest(request, response) {
      if (!request.url?.startsWith(TWIRP)) return false;
      call(request, response).catch((error: unknown) => {
        const known = error instanceof ServiceError ? error : undefined;
        if (!known) log.error({ err: error }, "room service call failed");
        const { code, status, message } = known ?? new ServiceError("internal", "internal error");
        response.writeHead(status, { "content-type": JSON_TYPE });
        response.end(JSON.stringify({ code, msg: message }));
      });
      return true;
    },
  };
}

function methodOf(url: string): (typeof ROOM_METHODS)[string] {
  const path = url.split("?", 1)[0] ?? "";
  const [service = "", name = ""] = path.slice(TWIRP.length).split("/");
  const elsewhere = ELSEWHERE.get(service === ROOM_SERVICE ? name : service);
  if (elsewhere !== undefined) throw notHere(elsewhere);
  const method =
    service === ROOM_SERVICE && Object.hasOwn(ROOM_METHODS, name) ? ROOM_METHODS[name] : undefined;
  if (!method) throw new ServiceError("bad_route", `no handler for path "${path}"`);
  return method;
}

/** Services and methods of a LiveKit server that SDKs know, in words. */
const ELSEWHERE = new Map([
  ["AgentDispatchService", "agent dispatch"],
  ["Egress", "egress"],
  ["Ingress", "ingress"],
  ["SIP", "SIP"],
  ["Connector", "connectors"],
  ["ForwardParticipant", "way to forward participants"],
  ["MoveParticipant", "way to move participants"],
]);

async function grantsOf(request: IncomingMessage, { settings }: RoomTable): Promise<Grants | undefined> {
  const header = request.headers.authorization;
  if (header === undefined) return undefined;
  if (!header.startsWith("Bearer "))
    throw new ServiceError("unauthenticated", "invalid authorization header");
  try {
    return await verifyToken(header.slice("Bearer ".length), settings);
  } catch (error) {
    if (error instanceof TokenRefused) throw new ServiceError("unauthenticated", error.message);
    throw error;
  }
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ServiceError("resource_exhausted", "request body too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
