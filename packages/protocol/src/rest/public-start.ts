import { z } from "zod";

const IceServer = z.object({
  urls: z.union([z.string(), z.array(z.string())]),
  username: z.string().optional(),
  credential: z.string().optional(),
});

/** Answer for `webrtc`. */
export const WebrtcStarted = z.object({
  sessionId: z.uuid(),
  iceConfig: z.object({ iceServers: z.array(IceServer) }).optional(),
  /** For a browser that is signed in: its bearer token for the paths of this session, and for nothing else. */
  sessionToken: z.string().optional(),
});

/** Answer for sockets; released clients refuse any other key. The session's id is in a header. */
export const SocketPrepared = z.object({ wsUrl: z.string(), token: z.string().optional() });

export const Started = z.union([WebrtcStarted, SocketPrepared]);
export type Started = z.infer<typeof Started>;

/** How a caller repeats a start without starting twice. */
export const IdempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/);
