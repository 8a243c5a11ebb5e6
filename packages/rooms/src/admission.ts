import type { ClientInfo_Capability } from "@livekit/protocol";
import type { RoomTable } from "./room-table.ts";
import { USE_LIVEKIT } from "./settings.ts";
import { fits } from "./profile.ts";
import { TokenRefused, validFromS, verifyToken, type Grants } from "./tokens.ts";

/** A join that may go on. */
export interface Admission {
  roomName: string;
  grants: Grants;
  autoSubscribe: boolean;
  client: { sdk: string; clientProtocol: number; capabilities: ClientInfo_Capability[] };
  /** The participant it was before its socket dropped. */
  resumes: string | undefined;
}

/** Refused as LiveKit refuses: a status and a sentence in plain text. */
export class JoinRefused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface JoinAttempt {
  query: URLSearchParams;
  /** The `Authorization` header. */
  authorization: string | undefined;
}

/** Decides whether a client may join, before its socket is accepted. Throws {@link JoinRefused}. */
export async function admit(table: RoomTable, { query, authorization }: JoinAttempt): Promise<Admission> {
  const { settings } = table;
  const { limits } = settings;
  const token = bearerToken({ query, authorization });
  const grants = await grantsOf(token, settings);
  const { identity, video } = grants;
  if (!video?.roomJoin) throw new JoinRefused(401, "permissions denied");
  if (identity === "") throw new JoinRefused(400, "identity cannot be empty");
  if (identity.length > limits.nameCharacters)
    throw new JoinRefused(
      400,
      `participant identity length exceeds limits: max length ${limits.nameCharacters}`,
    );
  const roomName = video.room ?? "";
  if (roomName === "") throw new JoinRefused(400, "no room name");
  if (roomName.length > limits.nameCharacters)
    throw new JoinRefused(400, `room name length exceeds limits: max length ${limits.nameCharacters}`);
  // A room is over for all who were let into it: each that they opened again would take the place of another's.
  if (validFromS(token) < (table.deletedAtS(roomName) ?? 0))
    throw new JoinRefused(404, "requested room does not exist");
  if (!fits(grants, limits)) throw new JoinRefused(400, "metadata size exceeds limits");
  requireCapacity(table, { roomName, identity });
  const sid = isTrue(query.get("reconnect")) ? (query.get("sid") ?? "") : undefined;
  return {
    roomName,
    grants,
    autoSubscribe: isTrue(query.get("auto_subscribe") ?? "1"),
    client: {
      sdk: query.get("sdk") ?? "",
      clientProtocol: protocolOf(query.get("client_protocol") ?? ""),
      capabilities: [],
    },
    resumes: sid,
  };
}

function requireCapacity(
  table: RoomTable,
  { roomName, identity }: { roomName: string; identity: string },
): void {
  const { limits } = table.settings;
  const room = table.rooms.get(roomName);
  if (!room) {
    if (table.rooms.size < limits.rooms) return;
    throw new JoinRefused(403, `this server has its ${limits.rooms} rooms; ${USE_LIVEKIT}`);
  }
  if (room.participants.has(identity)) return; // takes its own place
  const max = room.properties.maxParticipants;
  if (max > 0 && room.participants.size >= max)
    throw new JoinRefused(403, "room has exceeded its max participants");
  if (room.participants.size >= limits.participantsPerRoom)
    throw new JoinRefused(403, `the room has its ${limits.participantsPerRoom} participants; ${USE_LIVEKIT}`);
}

async function grantsOf(token: string, key: Parameters<typeof verifyToken>[1]): Promise<Grants> {
  if (token === "") throw new JoinRefused(401, "permissions denied");
  try {
    return await verifyToken(token, key);
  } catch (error) {
    if (error instanceof TokenRefused) throw new JoinRefused(401, error.message);
    throw error;
  }
}

/** Browsers cannot set headers on sockets, so the token may be in the query. */
function bearerToken({ query, authorization }: JoinAttempt): string {
  if (authorization === undefined) return query.get("access_token") ?? "";
  if (!authorization.startsWith("Bearer ")) throw new JoinRefused(401, "invalid authorization header");
  return authorization.slice("Bearer ".length);
}

/** All participants of the room get it, and their clients fail on anything but a small number. */
function protocolOf(text: string): number {
  return /^\d{1,4}$/.test(text) ? Number(text) : 0;
}

function isTrue(text: string | null): boolean {
  return text === "1" || text === "true";
}
