import type { CarrierName } from "@vocalhost/simulator";
import { carriersAmong } from "./carriers.ts";
import { parsePhoneNumber } from "./phone-number.ts";

/** A call that can be made. */
export interface CallChoice {
  carrier: CarrierName;
  from: string;
  to: string;
}

/** Undefined when a number is mistyped, or the runner takes no calls. */
export function toCallChoice(
  wished: { carrier: string; from: string; to: string },
  accepted: string[],
): CallChoice | undefined {
  const carrier = toCarrier(wished.carrier, accepted);
  const from = parsePhoneNumber(wished.from);
  const to = parsePhoneNumber(wished.to);
  if (!carrier || from.kind === "mistake" || to.kind === "mistake") return undefined;
  return { carrier, from: from.text, to: to.text };
}

/** The wished one, or the first that the runner accepts. */
export function toCarrier(wished: string, accepted: string[]): CarrierName | undefined {
  const carriers = carriersAmong(accepted);
  return carriers.find((carrier) => carrier === wished) ?? carriers[0];
}
