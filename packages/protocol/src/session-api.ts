import { z } from "zod";
import { IceServer, type TransportName } from "./transports.ts";

export const StartRequest = z.object({
  transport: z.string().nullish(),
  body: z.unknown().optional(),
  enableDefaultIceServers: z.boolean().nullish(),
});
export type StartRequest = z.infer<typeof StartRequest>;

/** Answer of `POST /start` for `webrtc`. */
export const WebrtcStarted = z.object({
  sessionId: z.uuid(),
  iceConfig: z.object({ iceServers: z.array(IceServer) }).optional(),
  /** For a browser that is signed in: its bearer token for the paths of this session, and for nothing else. */
  sessionToken: z.string().optional(),
});

/** Its answer for sockets; released clients refuse any other key. The session's id is in a header. */
export const SocketPrepared = z.object({ wsUrl: z.string(), token: z.string().optional() });

/** Answer of `POST /start`; a field that does not apply is absent, never null. */
export const Started = z.union([WebrtcStarted, SocketPrepared]);
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
