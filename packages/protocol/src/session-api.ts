import { carrierNames } from "@vocalhost/carriers";
import { z } from "zod";
import { Dialled, Dialout } from "./calls/dial.ts";
import { limits } from "./limits.ts";
import { VoiceFilter } from "./rest/agent-settings.ts";
import { IceServer, type TransportName } from "./transports.ts";

/** A room that there is already: an invitation into it, or any other token that lets its bearer hear and speak there. */
const RoomToJoin = z.object({ token: z.string().min(1).max(limits.roomTokenCharacters) });

/** Where a session is to be, in a service with several regions; a runner has none. */
const place = {
  /** There, or where it is nearest to. @default the agent's own region */
  region: z.string().max(63).nullish(),
  /** There or nowhere. */
  stayInRegion: z.boolean().nullish(),
};

export const StartRequest = z.object({
  transport: z.string().nullish(),
  body: z.unknown().optional(),
  enableDefaultIceServers: z.boolean().nullish(),
  ...place,
  /** Places a call over the carrier that `transport` names. The bot starts when the callee answers. */
  dialout: Dialout.nullish(),
  /** Send the bot into this room instead of making one. */
  room: RoomToJoin.nullish(),
  /** How the room is to be, in its provider's words. */
  roomProperties: z.unknown().optional(),
  /** Claims to add to the client's token. */
  tokenProperties: z.unknown().optional(),
  /** Asks for a room of Daily's when no transport is named. */
  createDailyRoom: z.boolean().nullish(),
  /** Same as `roomProperties`. */
  dailyRoomProperties: z.unknown().optional(),
  /** Same as `tokenProperties`. */
  dailyMeetingTokenProperties: z.unknown().optional(),
});
export type StartRequest = z.infer<typeof StartRequest>;

/** `POST /dialout`: the same as a start with `dialout`, said more shortly. */
export const DialoutRequest = Dialout.extend({
  transport: z.enum(carrierNames),
  body: z.unknown().optional(),
  ...place,
});
export type DialoutRequest = z.infer<typeof DialoutRequest>;

/** Headers of its answer: where the session is and why there. The first may come with a request, instead of `region`. */
export const REGION_HEADER = "x-vocalhost-region";
export const REGION_REASON_HEADER = "x-vocalhost-region-reason";

/** Answer of `POST /start` for `webrtc`. */
export const WebrtcStarted = z.object({
  sessionId: z.uuid(),
  iceConfig: z.object({ iceServers: z.array(IceServer) }).optional(),
  /** For a browser that is signed in: its bearer token for the paths of this session, and for nothing else. */
  sessionToken: z.string().optional(),
});

/** Its answer for sockets. Released clients of `websocket` refuse any other key: the session's id is in a header. */
export const SocketPrepared = z.object({ wsUrl: z.string(), token: z.string().optional() });

/** Its answer for carriers when a session was made. The caller that answers the webhook picks the fields it needs. */
export const CallPrepared = z.object({
  wsUrl: z.string(),
  token: z.string().optional(),
  sessionId: z.uuid(),
});

/** Its answer for rooms: where the client goes and what lets it in, also in the words of that provider's clients. */
export const RoomStarted = z.object({
  sessionId: z.uuid(),
  roomUrl: z.string(),
  token: z.string(),
  /** `roomUrl` under the name that LiveKit's clients use. */
  url: z.string().optional(),
  /** Both under the names that Daily's clients use. */
  dailyRoom: z.string().optional(),
  dailyToken: z.string().optional(),
  /** As for `webrtc`. */
  sessionToken: z.string().optional(),
});
export type RoomStarted = z.infer<typeof RoomStarted>;

/** Answer of `POST /sessions/{id}/api/invite`: one more may come. */
export type Invitation = Omit<RoomStarted, "sessionId" | "dailyRoom" | "dailyToken" | "sessionToken">;

/** Answer of `POST /start`; a field that does not apply is absent, never null. */
export const Started = z.union([Dialled, RoomStarted, CallPrepared, SocketPrepared, WebrtcStarted]);
export type Started = z.infer<typeof Started>;

export const OfferRequest = z.object({
  sdp: z.string(),
  type: z.literal("offer"),
  pc_id: z.string().nullish(),
  restart_pc: z.boolean().nullish(),
  request_data: z.unknown().optional(),
  requestData: z.unknown().optional(),
});
export type OfferRequest = z.infer<typeof OfferRequest>;

export interface OfferAnswer {
  sdp: string;
  type: "answer";
  pc_id: string;
}

export const CandidatesRequest = z.object({
  pc_id: z.string(),
  candidates: z.array(
    z.object({
      candidate: z.string(),
      sdp_mid: z.string().nullable(),
      sdp_mline_index: z.number().int().nullable(),
    }),
  ),
});
export type CandidatesRequest = z.infer<typeof CandidatesRequest>;

export type IceCandidate = CandidatesRequest["candidates"][number];

export interface StatusAnswer {
  status: "ready";
  transports: TransportName[];
}

// A session's voice filter, under `/sessions/{id}/api/voice-filter`.

/** How loud the caller was in one stretch, in decibels of full scale. */
export const FilterLevel = z.object({
  /** Counts up, so that nothing is drawn twice. */
  number: z.number().int().nonnegative(),
  beforeDb: z.number(),
  afterDb: z.number(),
});
export type FilterLevel = z.infer<typeof FilterLevel>;

/** `GET`: the last ten seconds. */
export const FilterView = z.object({
  /** Null where no filter is at work, or not yet. */
  model: VoiceFilter.nullable(),
  /** The bot hears everything for now. */
  isBypassed: z.boolean(),
  /** Length of a stretch. */
  levelMs: z.number(),
  levels: z.array(FilterLevel),
});
export type FilterView = z.infer<typeof FilterView>;

/** `POST`, answered like `GET`. */
export const SwitchFilter = z.object({ isBypassed: z.boolean() });
export type SwitchFilter = z.infer<typeof SwitchFilter>;
