import { carrierNames, carriers, type CarrierName } from "@vocalhost/carriers";

/** Name of the phone among the page's ways to connect; the runner knows its carriers only. */
export const PHONE = "phone";

/** The carriers among the transports a runner accepts, in the order they are offered. */
export function carriersAmong(accepted: string[]): CarrierName[] {
  return carrierNames.filter((name) => accepted.includes(name));
}

export function carrierTitle(carrier: CarrierName): string {
  return carriers[carrier].title;
}
