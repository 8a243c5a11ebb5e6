import type { Account, Carrier, CarrierMessage, Rest, Stream } from "./carrier.ts";
import type { SignedRequest } from "./signing.ts";
import { exotel } from "./exotel.ts";
import { plivo } from "./plivo.ts";
import { telnyx } from "./telnyx.ts";
import { twilio } from "./twilio.ts";

const records = { twilio, telnyx, plivo, exotel };

export type CarrierName = keyof typeof records;

/** Telephone carriers whose media streams a bot can take; an opening message that fits several is the first one's. */
export const carriers: Readonly<Record<CarrierName, Carrier>> = records;

export const carrierNames = Object.keys(records) as readonly CarrierName[];

export function isCarrier(transport: string): transport is CarrierName {
  return Object.hasOwn(records, transport);
}

/** A stream, and whose it is. */
export interface CarrierStream extends Stream {
  readonly carrier: CarrierName;
}

/** Undefined unless the message opens a stream of that carrier. Throws `CarrierError` if we cannot take it. */
export function openStream(
  carrier: CarrierName,
  message: CarrierMessage,
  address: URLSearchParams,
): CarrierStream | undefined {
  const stream = carriers[carrier].open(message, address);
  return stream && { carrier, ...stream };
}

/** The carrier whose webhook sent this. Others use Twilio's names for fields too, so that it is asked last. */
export function carrierAsking(
  headers: Readonly<Record<string, unknown>>,
  fields: URLSearchParams,
): CarrierName | undefined {
  return carrierNames.findLast((name) => {
    const { signature } = carriers[name];
    return (signature && headers[signature.header] !== undefined) || carriers[name].asks(fields);
  });
}

/** "off": there is no key to check with, or the carrier signs nothing. */
export type SignatureVerdict = "valid" | "invalid" | "off";

export async function checkSignature(
  carrier: CarrierName,
  request: SignedRequest,
  key: string | undefined,
): Promise<SignatureVerdict> {
  const { signature } = carriers[carrier];
  if (!signature || !key) return "off";
  return (await signature.verify(request, key)) ? "valid" : "invalid";
}

/** Accounts at the carriers' REST interfaces; each is optional. */
export interface CarrierAccounts extends Record<CarrierName, Account | undefined> {
  /** The default caller's number. */
  phoneNumbers: Partial<Record<CarrierName, string>>;
  /** Where the REST interfaces are. */
  addresses: CarrierAddresses;
}

export type CarrierAddresses = Record<CarrierName, string>;

/** Undefined unless there is an account. */
export function restOf(accounts: CarrierAccounts, carrier: CarrierName): Rest | undefined {
  const account = accounts[carrier];
  return account && { account, address: accounts.addresses[carrier] };
}
