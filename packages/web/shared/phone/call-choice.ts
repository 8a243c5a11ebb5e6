import { carrierNames, carriers, type CarrierName } from "@vocalhost/carriers";
import type { CallChoice } from "../connection/open-session.ts";

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

/** Parses a typed number: one that can be dialled, or an error with an explanation. */
type PhoneNumber = { kind: "number"; text: string } | { kind: "mistake"; message: string };

const DIGITS_MAX = 20; // the longest numbers of the world have 15, short codes and prefixes add some

/** Takes a number as people write it, with spaces, dots, dashes and brackets. */
export function parsePhoneNumber(typed: string): PhoneNumber {
  const text = typed.replaceAll(/[\s().\-/]/g, "");
  if (!text) return { kind: "mistake", message: "Enter a number; any will do." };
  if (!/^\+?[0-9*#]+$/.test(text)) {
    return { kind: "mistake", message: "A number has digits, * and #, and may begin with +." };
  }
  if (text.length > DIGITS_MAX) {
    return { kind: "mistake", message: `A number has at most ${DIGITS_MAX} digits.` };
  }
  return { kind: "number", text };
}

/** Name of the phone among the page's ways to connect; the runner knows its carriers only. */
export const PHONE = "phone";

/** The carriers among the transports a runner accepts, in the order they are offered. */
export function carriersAmong(accepted: string[]): CarrierName[] {
  return carrierNames.filter((name) => accepted.includes(name));
}

export function carrierTitle(carrier: CarrierName): string {
  return carriers[carrier].title;
}
