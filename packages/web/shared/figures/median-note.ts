import { toDelay } from "../duration.ts";
import { median } from "./response-latency.ts";

export function medianNote(values: number[]): string {
  return values.length > 1 ? `median ${toDelay(median(values))} of ${values.length}` : "";
}
