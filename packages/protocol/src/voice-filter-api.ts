// A session's voice filter, under `/sessions/{id}/api/voice-filter`.
import { z } from "zod";
import { VoiceFilter } from "./rest/agent-settings.ts";

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
