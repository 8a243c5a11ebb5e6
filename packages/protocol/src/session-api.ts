import { z } from "zod";

/** Telephony providers whose media streams a bot can take. */
export const carrierNames = ["twilio", "telnyx", "plivo", "exotel"] as const;
export type CarrierName = (typeof carrierNames)[number];

/** How a client and a bot can be connected in this version. */
export const transportNames = ["webrtc", "websocket", ...carrierNames] as const;
export type TransportName = (typeof transportNames)[number];

export function isCarrier(transport: string): transport is CarrierName {
  return (carrierNames as readonly string[]).includes(transport);
}

/** Names a client may know; asking for one of these is a matter of set-up, not a mistake. */
export const reservedTransportNames = ["room", "daily", "livekit"] as const;

export const StartRequest = z.object({
  transport: z.string().nullish(),
  body: z.unknown().optional(),
  enableDefaultIceServers: z.boolean().nullish(),
});
export type StartRequest = z.infer<typeof StartRequest>;

export interface IceServer {
  urls: string | string[];
  username?: string;
  credential?: string;
}

export interface IceConfig {
  iceServers: IceServer[];
}

/** Answer of `POST /start`; a field that does not apply is absent, never null. */
export type StartAnswer =
  | { sessionId: string; iceConfig?: IceConfig; sessionToken?: string }
  | { wsUrl: string; token?: string };

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
