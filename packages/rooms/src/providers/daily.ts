import { AppError, isAppError } from "@vocalhost/protocol";
import { z } from "zod";
import type { Log } from "../log.ts";
import { createDailyApi, type DailyApi } from "./daily-api.ts";
import { DailyRoomProperties, DailyTokenProperties } from "./daily-properties.ts";
import {
  roomNameOf,
  parseProperties,
  TOKEN_VALID_S,
  type MadeRoom,
  type RoomProvider,
  type WantedRoom,
} from "./room-provider.ts";

export interface DailyConfig {
  apiKey: string;
  apiUrl: string;
  /** Use this room for every session instead of making one each time; not for phone calls. */
  roomUrl?: string | undefined;
  /** Checks the dial-in webhook; base64. */
  dialInSecret?: string | undefined;
  /** Checks the webhook of events, which tells when a room is ready for its call; base64. */
  eventSecret?: string | undefined;
}

export interface DailyRooms extends RoomProvider {
  /** Connects a caller who is on hold with the room that was made for the call. */
  forwardCall(call: { callId: string; callDomain: string; sipUri: string }): Promise<void>;
}

const ROOM_VALID_S = 4 * 3600;
const DEFAULTS = { enable_chat: false, enable_prejoin_ui: false, enable_emoji_reactions: false };

const Room = z.object({
  name: z.string(),
  url: z.url(),
  config: z.object({ sip_uri: z.object({ endpoint: z.string() }).optional() }).default({}),
});
const Token = z.object({ token: z.string() });
const KnownToken = z.object({ room_name: z.string().optional() });

/** Rooms at Daily, over its REST interface. */
export function createDailyRooms(
  { apiKey, apiUrl, roomUrl }: DailyConfig,
  { log, backoffMs }: { log: Log; backoffMs?: number },
): DailyRooms {
  const api = createDailyApi({ apiUrl, apiKey, log, ...(backoffMs === undefined ? {} : { backoffMs }) });
  const sharedName = roomUrl === undefined ? undefined : nameIn(roomUrl);

  return {
    name: "daily",
    async createRoom(wanted) {
      if (roomUrl !== undefined && sharedName !== undefined && !wanted.sip)
        return { name: sharedName, url: roomUrl, botUrl: roomUrl };
      return makeRoom(api, wanted);
    },
    async issueToken({ room, identity, isBot, isGuest, properties }) {
      const wanted = parseProperties(DailyTokenProperties, properties);
      const said = await api.post("/meeting-tokens", {
        properties: {
          user_name: identity,
          ...wanted,
          // Without a room it would open every room of the domain.
          room_name: room,
          exp: nowS() + TOKEN_VALID_S,
          is_owner: isBot && !isGuest,
          eject_at_token_exp: false,
        },
      });
      return readAnswer(Token, said).token;
    },
    async findRoom(token) {
      if (!isForm(token)) return undefined;
      const said = await api.get(`/meeting-tokens/${token}`).catch((error: unknown) => {
        if (isAppError(error) && error.code === "ROOM_REFUSED") return { found: false as const };
        throw error;
      });
      const name = KnownToken.safeParse(said.found ? said.body : undefined).data?.room_name;
      if (!name) return undefined; // a token for every room names none
      const room = await api.get(`/rooms/${encodeURIComponent(name)}`);
      return room.found ? toRoom(readAnswer(Room, room)) : undefined;
    },
    async deleteRoom(name) {
      if (name !== sharedName) await api.delete(`/rooms/${encodeURIComponent(name)}`);
    },
    async forwardCall({ callId, callDomain, sipUri }) {
      const said = await api.post("/dialin/pinlessCallUpdate", { callId, callDomain, sipUri });
      if (!said.found)
        throw new AppError("ROOM_REFUSED", { message: "Daily does not know this call any more." });
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function makeRoom(api: DailyApi, { prefix, mark, properties, sip }: WantedRoom): Promise<MadeRoom> {
  const wanted = parseProperties(DailyRoomProperties, properties);
  const call = sip && {
    start_video_off: true,
    sip: { display_name: sip.displayName, video: false, sip_mode: "dial-in", num_endpoints: 1 },
  };
  const name = roomNameOf({ prefix: sip ? `${prefix}-telephony` : prefix, mark });
  const known = mark === undefined ? undefined : await api.get(`/rooms/${encodeURIComponent(name)}`);
  if (known?.found) return toRoom(readAnswer(Room, known));
  const said = await api.post("/rooms", {
    name,
    privacy: "public",
    properties: { ...DEFAULTS, exp: nowS() + ROOM_VALID_S, eject_at_room_exp: true, ...wanted, ...call },
  });
  const room = toRoom(readAnswer(Room, said));
  if (sip && room.sipUri === undefined)
    throw new AppError("ROOM_REFUSED", {
      message: "Daily made a room without a SIP address. Is dial-in enabled for your domain?",
    });
  return room;
}

function toRoom(room: z.infer<typeof Room>): MadeRoom {
  const endpoint = room.config.sip_uri?.endpoint;
  return {
    name: room.name,
    url: room.url,
    botUrl: room.url,
    ...(endpoint === undefined ? {} : { sipUri: `sip:${endpoint.replace(/^sip:/, "")}` }),
  };
}

function readAnswer<S extends z.ZodType>(schema: S, said: Awaited<ReturnType<DailyApi["post"]>>): z.infer<S> {
  const parsed = schema.safeParse(said.found ? said.body : undefined);
  if (parsed.success) return parsed.data;
  throw new AppError("ROOMS_UNAVAILABLE", {
    message: "Daily did not answer as documented. Check DAILY_API_URL.",
  });
}

/** Whether it could be a token at all; nothing else may become part of an address. */
function isForm(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

function nameIn(roomUrl: string): string {
  return decodeURIComponent(new URL(roomUrl).pathname.replace(/^\/+|\/+$/g, ""));
}

function nowS(): number {
  return Math.floor(Date.now() / 1000);
}
