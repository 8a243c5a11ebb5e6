import { z } from "zod";

/** What a caller may want of a room on a LiveKit server or on ours. */
export const LiveKitRoomProperties = z.strictObject({
  maxParticipants: z.number().int().min(2).max(1_000).optional(),
  /** Seconds until a room that nobody joined is closed. */
  emptyTimeout: z.number().int().positive().max(86_400).optional(),
  /** Seconds until a room that everybody left is closed. */
  departureTimeout: z.number().int().positive().max(86_400).optional(),
  metadata: z.string().max(16_000).optional(),
});

/** What a caller may want of its token; what it may do is ours to say. */
export const LiveKitTokenProperties = z.strictObject({
  name: z.string().max(256).optional(),
  metadata: z.string().max(16_000).optional(),
  attributes: z.record(z.string().max(256), z.string().max(4_000)).optional(),
});
