import { carriers } from "@vocalhost/carriers";
import { newCallIds, type CallDetails } from "@vocalhost/simulator";
import type { CallChoice } from "../connection/open-session.ts";

/** Who calls whom. The numbers travel where the runner's own webhook answers would put them. */
export function createCallDetails(
  { carrier, from, to }: CallChoice,
  more: Record<string, string> = {}, // only where the carrier has room for them
): CallDetails {
  const parameters = carriers[carrier].passedOn({ from, to }, more);
  return { ids: newCallIds(carrier), from, to, parameters };
}
