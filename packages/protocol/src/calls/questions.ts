import type { CarrierName } from "../carriers.ts";
import { AppError } from "../errors.ts";
import { answererIn } from "./answerer.ts";
import { Callee, CallerId } from "./dial.ts";
import { dialXml, streamXml } from "./stream-xml.ts";

/** What a carrier is told that asks what to do with a call we placed: stream it, and pass on who took it. */
export function answeredXml(
  carrier: Exclude<CarrierName, "exotel">,
  { address, token }: { address: string; token: unknown },
  fields: URLSearchParams,
): string {
  // In the query and not in the path, so that no log shows it.
  if (typeof token !== "string" || !/^[\w.~-]{1,2048}$/.test(token))
    throw new AppError("INVALID_REQUEST", { message: "Say which call it is: ?token=" });
  const url = `${address}/${token}`;
  const from = fields.get("From") ?? undefined;
  const to = fields.get("To") ?? undefined;
  return streamXml(carrier, { url, from, to, answeredBy: answererIn(fields) });
}

/** What Plivo is told that asks what to do with a call we transferred. */
export function transferXml({ to, callerId }: { to?: unknown; callerId?: unknown }): string {
  const callee = Callee.safeParse(to);
  const caller = CallerId.optional().safeParse(callerId);
  if (callee.success && caller.success) return dialXml(callee.data, caller.data);
  throw new AppError("INVALID_REQUEST", { message: "Say whom to call: ?to=+15550100200" });
}
