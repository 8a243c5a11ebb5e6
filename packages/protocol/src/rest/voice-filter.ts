import { z } from "zod";

/** Without an engine audio is not filtered, and nothing is billed for it. */
export const VoiceFilterSupport = z.object({ engine: z.enum(["available", "absent"]) });
export type VoiceFilterSupport = z.infer<typeof VoiceFilterSupport>;
