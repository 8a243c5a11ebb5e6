import { AppError } from "@vocalhost/protocol";
import type { RoomServiceClient } from "livekit-server-sdk";
import { LiveKitRoomProperties, LiveKitTokenProperties } from "./livekit-properties.ts";
import { parseProperties, roomNameOf, TOKEN_VALID_S, type RoomProvider } from "./room-provider.ts";
import { grantedRoom } from "./session-room.ts";

export interface LiveKitConfig {
  /** `wss://…` */
  url: string;
  apiKey: string;
  apiSecret: string;
  /** Use this room for every session instead of making one each time. */
  roomName?: string | undefined;
  /** The outbound trunk that bots may call with. */
  sipTrunk?: string | undefined;
}

const CALL_S = 10;
const EMPTY_TIMEOUT_S = 300;
const DEPARTURE_TIMEOUT_S = 20;

/** Rooms on a LiveKit server, made and ended through its service calls. */
export function createLiveKitRooms(config: LiveKitConfig): RoomProvider {
  const { url, apiKey, apiSecret, roomName, sipTrunk } = config;
  const httpUrl = url.replace(/^ws/, "http");
  let opening: Promise<RoomServiceClient> | undefined;

  // Large, and only needed where there is such a server.
  const service = (): Promise<RoomServiceClient> =>
    (opening ??= import("livekit-server-sdk").then(
      ({ RoomServiceClient: Client }) =>
        new Client(httpUrl, apiKey, apiSecret, { requestTimeout: CALL_S, failover: false }),
    ));

  return {
    name: "livekit",
    sipTrunk,
    async createRoom({ prefix, mark, properties }) {
      const wanted = parseProperties(LiveKitRoomProperties, properties);
      const name = roomName ?? roomNameOf({ prefix, mark });
      const client = await service();
      await client
        .createRoom({ name, emptyTimeout: EMPTY_TIMEOUT_S, departureTimeout: DEPARTURE_TIMEOUT_S, ...wanted })
        .catch((error: unknown) => {
          throw toAppError(error, apiSecret);
        });
      return { name, url, botUrl: url };
    },
    async issueToken({ room, identity, isBot, isGuest, properties }) {
      const { AccessToken } = await import("livekit-server-sdk");
      const wanted = parseProperties(LiveKitTokenProperties, properties);
      const token = new AccessToken(apiKey, apiSecret, { identity, ttl: TOKEN_VALID_S, ...wanted });
      token.addGrant({ roomJoin: true, room, ...(isBot ? { roomAdmin: !isGuest, agent: true } : {}) });
      if (isBot && !isGuest && sipTrunk !== undefined) token.addSIPGrant({ call: true });
      if (isBot) token.kind = "agent";
      return token.toJwt();
    },
    async findRoom(token) {
      const name = await grantedRoom(token, { apiKey, apiSecret });
      return name === undefined ? undefined : { name, url, botUrl: url };
    },
    async deleteRoom(name) {
      if (name === roomName) return; // others may be in it
      const client = await service();
      await client.deleteRoom(name).catch((error: unknown) => {
        if (codeOf(error) !== "not_found") throw toAppError(error, apiSecret);
      });
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function toAppError(error: unknown, secret: string): AppError {
  const said = (error instanceof Error ? error.message : String(error)).replaceAll(secret, "…");
  const code = codeOf(error);
  if (code === "unauthenticated" || code === "permission_denied")
    return new AppError("ROOM_REFUSED", {
      message: `The LiveKit server refused our key (${said}). Check LIVEKIT_API_KEY and LIVEKIT_API_SECRET.`,
    });
  if (code === "invalid_argument")
    return new AppError("ROOM_REFUSED", { message: `The LiveKit server refused the room: ${said}` });
  return new AppError("ROOMS_UNAVAILABLE", {
    message: `The LiveKit server at LIVEKIT_URL did not answer as expected: ${said}`,
  });
}
