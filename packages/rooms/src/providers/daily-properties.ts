import { z } from "zod";

const DAY_S = 86_400;
const seconds = z.number().int().positive();

// Milliseconds are a common mistake, and Daily would keep such a room for thousands of years.
const moment = z
  .number()
  .int()
  .refine((value) => value < 100_000_000_000, "must be Unix seconds, not milliseconds")
  .refine((value) => value <= Date.now() / 1000 + DAY_S, "may be a day from now at most");

const Bucket = z.strictObject({
  bucket_name: z.string(),
  bucket_region: z.string(),
  assume_role_arn: z.string(),
  allow_api_access: z.boolean().optional(),
});

/** Properties of a room that Daily knows; it refuses any other. */
export const DailyRoomProperties = z.strictObject({
  exp: moment.optional(),
  nbf: moment.optional(),
  eject_at_room_exp: z.boolean().optional(),
  eject_after_elapsed: seconds.optional(),
  max_participants: z.number().int().positive().optional(),
  enable_chat: z.boolean().optional(),
  enable_prejoin_ui: z.boolean().optional(),
  enable_emoji_reactions: z.boolean().optional(),
  enable_screenshare: z.boolean().optional(),
  enable_knocking: z.boolean().optional(),
  start_video_off: z.boolean().optional(),
  start_audio_off: z.boolean().optional(),
  enable_recording: z.enum(["cloud", "cloud-audio-only", "local", "raw-tracks"]).optional(),
  enable_transcription_storage: z.boolean().optional(),
  recordings_bucket: Bucket.optional(),
  transcription_bucket: Bucket.optional(),
  geo: z.string().max(40).optional(),
  /** For callers that answer the webhook of a phone call themselves. */
  sip: z
    .strictObject({
      display_name: z.string().max(256),
      video: z.boolean().optional(),
      sip_mode: z.literal("dial-in"),
      num_endpoints: z.number().int().min(1).max(4).optional(),
      provider: z.literal("daily").optional(),
    })
    .optional(),
  enable_dialout: z.boolean().optional(),
});

/** Properties of a token. Room, expiry and ownership are accepted and ignored: the service sets them. */
export const DailyTokenProperties = z.strictObject({
  room_name: z.string().optional(),
  exp: z.number().optional(),
  is_owner: z.boolean().optional(),
  eject_at_token_exp: z.boolean().optional(),
  nbf: moment.optional(),
  user_name: z.string().max(256).optional(),
  user_id: z.string().max(36).optional(),
  eject_after_elapsed: seconds.optional(),
  enable_screenshare: z.boolean().optional(),
  start_video_off: z.boolean().optional(),
  start_audio_off: z.boolean().optional(),
  enable_recording: z.enum(["cloud", "cloud-audio-only", "local", "raw-tracks"]).optional(),
  enable_prejoin_ui: z.boolean().optional(),
  start_cloud_recording: z.boolean().optional(),
});
