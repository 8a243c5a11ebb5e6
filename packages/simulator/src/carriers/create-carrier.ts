import type { CarrierName } from "@vocalhost/protocol";
import type { CallDetails, CallIds, Carrier, SimulatedCarrier } from "./carrier.ts";
import { exotel } from "./exotel.ts";
import { plivo } from "./plivo.ts";
import { telnyx } from "./telnyx.ts";
import { twilio } from "./twilio.ts";

const simulated = { twilio, telnyx, plivo, exotel } satisfies Record<CarrierName, SimulatedCarrier>;

type OptionsOf<N extends CarrierName> = (typeof simulated)[N] extends SimulatedCarrier<infer O> ? O : never;

/** One carrier and what can be chosen there. */
export type CarrierChoice = { [N in CarrierName]: { name: N } & OptionsOf<N> }[CarrierName];

export const simulatedCarriers: Readonly<Record<CarrierName, SimulatedCarrier>> = simulated;

export function createCarrier(choice: CarrierChoice, details: CallDetails): Carrier {
  return simulatedCarriers[choice.name].create(details, choice);
}

export function newCallIds(carrier: CarrierName): CallIds {
  return simulatedCarriers[carrier].newIds();
}
