import {
  accountVariables,
  carrierNames,
  carriers,
  phoneNumberVariable,
  restOf,
  type Carrier,
  type CarrierAccounts,
  type CarrierName,
} from "@vocalhost/carriers";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { askCarrier, refusalOf, type CarrierAnswer, type CarrierRequest } from "./carrier-request.ts";

const E164 = /^\+[1-9]\d{5,14}$/;
const SIP = /^sips?:[\w.+-]{1,64}@[A-Za-z0-9.-]{1,128}$/;

/** A callee: a number with its country code, or a SIP address. */
export const Callee = z.string().refine((text) => E164.test(text) || SIP.test(text), {
  error: "must be a phone number such as +15550100200, or a SIP address such as sip:desk@example.com",
});

/** A number of one's own at a carrier. */
const CallerId = z
  .string()
  .regex(/^\+?\d{3,15}$/, { error: "must be a phone number of yours, such as +15550100200" });

/** A call the bot places, as a start request asks for it. */
export const Dialout = z.strictObject({
  to: Callee,
  /** A number of the account at the carrier. @default the configured one */
  from: CallerId.optional(),
  /** Find out whether a person or an answering machine took the call, before the bot begins. */
  machineDetection: z.boolean().optional(),
  /** How long it may ring. */
  ringSecs: z.number().int().min(5).max(120).optional(),
});
export type Dialout = z.infer<typeof Dialout>;

/** Answer of a start that placed a call: the session waits until the callee answers. */
export const Dialled = z.object({
  sessionId: z.uuid(),
  /** The carrier's name of the call, where it gives one at once. */
  callId: z.string().optional(),
  status: z.literal("dialling"),
});
export type Dialled = z.infer<typeof Dialled>;

/** The settings of an outgoing call besides the callee. */
export interface DialOrder extends Dialout {
  /** Where the carrier streams the call to. */
  streamUrl: string;
  /** Where it asks what to do with the call once it is answered. */
  answerUrl: string;
}

/** Places a call through a carrier. Throws the error that the client gets. */
export async function placeCall(
  carrier: CarrierName,
  accounts: CarrierAccounts,
  order: DialOrder,
): Promise<{ callId: string | undefined }> {
  const request = dialRequest(carrier, accounts, order);
  const answer = await askCarrier(request);
  if (answer.status < 200 || answer.status > 299) throw refusalOf(request, answer, "the call");
  return { callId: callIdIn(carrier, answer) };
}

/** Throws unless the carrier can be asked for such a call at all. */
export function dialRequest(
  carrier: CarrierName,
  accounts: CarrierAccounts,
  order: DialOrder,
): CarrierRequest {
  const { title, account, detectsMachines } = carriers[carrier];
  const from = order.from ?? accounts.phoneNumbers[carrier];
  if (from === undefined)
    throw new AppError("GENERIC_BAD_REQUEST", {
      message: `Say whom the call comes from: dialout.from, or ${phoneNumberVariable(carrier)}`,
    });
  const rest = restOf(accounts, carrier);
  if (!rest || Object.keys(account.dialling ?? {}).some((part) => !rest.account[part]))
    throw new AppError("CARRIER_NOT_CONFIGURED", {
      message: `Calling over ${title} needs ${listed(accountVariables(carrier, "dialling"))}`,
    });
  if (order.machineDetection && !detectsMachines)
    throw new AppError("GENERIC_BAD_REQUEST", {
      message: `${title} does not tell answering machines apart: leave out machineDetection`,
    });
  return { carrier, ...carriers[carrier].dial(rest, { ...order, from }) };
}

function listed(variables: readonly string[]): string {
  return `${variables.slice(0, -1).join(", ")} and ${variables.at(-1)}`;
}

function callIdIn(carrier: CarrierName, { text }: CarrierAnswer): string | undefined {
  try {
    const id = carriers[carrier].callIdIn(JSON.parse(text) as Record<string, unknown>);
    return typeof id === "string" ? id.slice(0, 256) : undefined;
  } catch {
    return undefined;
  }
}

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
