import { z } from "zod";

/** Properties of a room on a LiveKit server or on ours that a caller may set. */
export const LiveKitRoomProperties = z.strictObject({
  maxParticipants: z.number().int().min(2).max(1_000).optional(),
  /** Seconds until a room without any participant is closed. */
  emptyTimeout: z.number().int().positive().max(86_400).optional(),
  /** Seconds until a room is closed after the last participant has left. */
  departureTimeout: z.number().int().positive().max(86_400).optional(),
  metadata: z.string().max(16_000).optional(),
});

/** Properties of a token that a caller may set; the service sets the permissions. */
export const LiveKitTokenProperties = z.strictObject({
  name: z.string().max(256).optional(),
  metadata: z.string().max(16_000).optional(),
  attributes: z.record(z.string().max(256), z.string().max(4_000)).optional(),
});
