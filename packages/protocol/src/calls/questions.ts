import { carrierNames, carriers, type Carrier, type CarrierName } from "@vocalhost/carriers";
import { AppError } from "../errors.ts";
import { Callee, CallerId } from "./dial.ts";

/** The carrier of that name. Throws unless it asks what to do with a call we placed. */
export function askingCarrier(name: string): CarrierName {
  const carrier = carrierNames.find((each) => each === name);
  if (carrier && carriers[carrier].answerXml) return carrier;
  throw new AppError("CARRIER_UNKNOWN");
}

/** Answers a carrier that asks what to do with a call we placed: stream it, and pass on who took it. */
export function answeredXml(
  name: CarrierName,
  { address, token }: { address: string; token: unknown },
  fields: URLSearchParams,
): string {
  // In the query and not in the path, so that no log shows it.
  if (typeof token !== "string" || !/^[\w.~-]{1,2048}$/.test(token))
    throw new AppError("INVALID_REQUEST", { message: "Say which call it is: ?token=" });
  const url = `${address}/${token}`;
  const from = fields.get("From") ?? undefined;
  const to = fields.get("To") ?? undefined;
  const carrier: Carrier = carriers[askingCarrier(name)];
  return carrier.answerXml?.({ url, from, to, answeredBy: carrier.answererIn(fields) }) ?? "";
}

/** The carrier that asks what a transferred call is to do; a second one would need an address of its own. */
export const transferAsker: CarrierName | undefined = carrierNames.find((name) => carriers[name].transferXml);

/** Answers it. */
export function transferXml({ to, callerId }: { to?: unknown; callerId?: unknown }): string {
  const callee = Callee.safeParse(to);
  const caller = CallerId.optional().safeParse(callerId);
  if (transferAsker && callee.success && caller.success)
    return carriers[transferAsker].transferXml?.(callee.data, caller.data) ?? "";
  throw new AppError("INVALID_REQUEST", { message: "Say whom to call: ?to=+15550100200" });
}
