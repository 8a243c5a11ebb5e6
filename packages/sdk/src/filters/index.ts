// Filters for incoming audio
export { vivaFilter } from "./viva-filter.ts";
export type { AudioFilter, FilterContext, OpenFilter } from "./audio-filter.ts";
