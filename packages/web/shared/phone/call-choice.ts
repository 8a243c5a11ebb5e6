import type { CarrierName } from "@vocalhost/carriers";
import type { CallChoice } from "../connection/open-session.ts";
import { carriersAmong } from "./carriers.ts";
import { parsePhoneNumber } from "./phone-number.ts";

/** Undefined when a number is mistyped, or the runner takes no calls. */
export function toCallChoice(
  requested: { carrier: string; from: string; to: string },
  accepted: string[],
): CallChoice | undefined {
  const carrier = toCarrier(requested.carrier, accepted);
  const from = parsePhoneNumber(requested.from);
  const to = parsePhoneNumber(requested.to);
  if (!carrier || from.kind === "mistake" || to.kind === "mistake") return undefined;
  return { carrier, from: from.text, to: to.text };
}

/** The requested one, or the first that the runner accepts. */
export function toCarrier(requested: string, accepted: string[]): CarrierName | undefined {
  const carriers = carriersAmong(accepted);
  return carriers.find((carrier) => carrier === requested) ?? carriers[0];
}
