import type { RoomProviderName, RoomStarted } from "@vocalhost/protocol";
import type { TokenKey } from "../tokens.ts";
import type { RoomProviders } from "./room-providers.ts";

/** A room with everything that lets a bot, its client and those they invite into it. */
export interface SessionRoom {
  provider: RoomProviderName;
  roomName: string;
  /** For clients. */
  roomUrl: string;
  botRoomUrl: string;
  botToken: string;
  clientToken: string;
  /** One token for each possible guest: the bot's machine cannot sign any. */
  guestTokens: string[];
  sipUri: string | undefined;
  /** The trunk over which the bot may call a person into the room. */
  sipTrunk: string | undefined;
  /** The room is another session's. */
  isGuest: boolean;
  /** Removes all participants; none if the room belongs to another session. */
  close(): Promise<void>;
}

export interface WantedSessionRoom {
  /** The transport the client asked for: `room`, `livekit`, `daily`. */
  requested: string;
  prefix: string;
  /** Tells it from others; the same mark means the same room. @default something new */
  mark?: string | undefined;
  /** Ends the identities of bot, client and guests. @default as the room's name */
  people?: string | undefined;
  reachedAs?: string | undefined;
  roomProperties?: unknown;
  tokenProperties?: unknown;
  sip?: { displayName: string };
}

const GUESTS_MAX = 8; // enough for a small conversation, few enough to be no way around the limits of sessions

export async function makeSessionRoom(
  providers: RoomProviders,
  wanted: WantedSessionRoom,
): Promise<SessionRoom> {
  const provider = providers.of(wanted.requested);
  const { prefix, mark, reachedAs, sip, roomProperties: properties } = wanted;
  const made = await provider.createRoom({ prefix, mark, reachedAs, properties, ...(sip ? { sip } : {}) });
  const { name: room } = made;
  const close = (): Promise<void> => provider.deleteRoom(room);
  // An identity that comes twice throws out the first; in a room for all there are several sessions.
  const own = wanted.people ?? room.replaceAll(/[^0-9a-z]/gi, "").slice(-8);
  const guests = provider.name === "daily" ? 0 : GUESTS_MAX; // there each would be a request
  try {
    const [botToken, clientToken, ...guestTokens] = await Promise.all([
      provider.issueToken({ room, identity: `Bot-${own}`, isBot: true }),
      provider.issueToken({
        room,
        identity: `User-${own}`,
        isBot: false,
        properties: wanted.tokenProperties,
      }),
      ...Array.from({ length: guests }, (_, index) =>
        provider.issueToken({ room, identity: `Guest-${index + 1}-${own}`, isBot: false }),
      ),
    ]);
    return {
      provider: provider.name,
      roomName: room,
      roomUrl: made.url,
      botRoomUrl: made.botUrl,
      botToken,
      clientToken,
      guestTokens,
      sipUri: made.sipUri,
      sipTrunk: provider.sipTrunk,
      isGuest: false,
      close,
    };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

/** The answer to the client of a session. */
export function roomAnswer(room: SessionRoom, sessionId: string): RoomStarted {
  const { roomUrl, clientToken: token, provider } = room;
  if (provider === "daily") return { sessionId, roomUrl, token, dailyRoom: roomUrl, dailyToken: token };
  return { sessionId, roomUrl, token, url: roomUrl };
}

/** The room in which a token of this key lets its bearer hear and speak; undefined when there is none. */
export async function grantedRoom(token: string, key: TokenKey): Promise<string | undefined> {
  const { verifyToken } = await import("../tokens.ts");
  const grants = await verifyToken(token, key).catch(() => undefined);
  const { roomJoin, room, canPublish = true, canSubscribe = true } = grants?.video ?? {};
  return roomJoin && canPublish && canSubscribe ? room || undefined : undefined;
}
