import type { CarrierName } from "@vocalhost/simulator";

/** Name of the phone among the page's ways to connect; the runner knows its carriers only. */
export const PHONE = "phone";

const titles: Record<CarrierName, string> = {
  twilio: "Twilio",
  telnyx: "Telnyx",
  plivo: "Plivo",
  exotel: "Exotel",
};

/** The carriers among the transports a runner accepts, in the order they are offered. */
export function carriersAmong(accepted: string[]): CarrierName[] {
  return (Object.keys(titles) as CarrierName[]).filter((name) => accepted.includes(name));
}

export function carrierTitle(carrier: CarrierName): string {
  return titles[carrier];
}
