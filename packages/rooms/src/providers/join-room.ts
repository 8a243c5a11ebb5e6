import { AppError } from "@vocalhost/protocol";
import type { RoomProviders } from "./room-providers.ts";
import type { SessionRoom } from "./session-room.ts";

export interface RoomToJoin {
  /** A token of the room. Its holder may be in the room, and so may bring a bot there. */
  token: string;
  /** The suffix of the bot's identity. A second participant with the same identity disconnects the first. */
  people: string;
  reachedAs?: string | undefined;
  roomProperties?: unknown;
  tokenProperties?: unknown;
}

/** One more bot for a room that there is already: it owns nothing there, and the room outlives its session. */
export async function joinSessionRoom(providers: RoomProviders, wanted: RoomToJoin): Promise<SessionRoom> {
  const { token, people, reachedAs } = wanted;
  if (wanted.roomProperties !== undefined || wanted.tokenProperties !== undefined)
    throw new AppError("INVALID_REQUEST", {
      message: "Properties are for a room that is made; this one is there already",
    });
  const found = await providers.find(token, { reachedAs });
  if (!found)
    throw new AppError("ACCESS_DENIED", {
      message:
        "room.token lets nobody hear and speak in a room of this server. Send the token of an invitation or of a client in that room, while it is valid",
    });
  const { provider, room } = found;
  const identity = `Bot-${people}`;
  return {
    provider: provider.name,
    roomName: room.name,
    roomUrl: room.url,
    botRoomUrl: room.botUrl,
    botToken: await provider.issueToken({ room: room.name, identity, isBot: true, isGuest: true }),
    clientToken: token,
    guestTokens: [],
    sipUri: undefined,
    sipTrunk: undefined,
    isGuest: true,
    close: async () => undefined,
  };
}
