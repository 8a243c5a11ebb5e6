// Cleaning what a bot hears
export { vivaFilter } from "./viva-filter.ts";
export type { AudioFilter, FilterContext, OpenFilter } from "./audio-filter.ts";
