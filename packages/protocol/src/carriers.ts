/** Telephony providers whose media streams a bot can take; an opening message that fits several is the first one's. */
export const carrierNames = ["twilio", "telnyx", "plivo", "exotel"] as const;
export type CarrierName = (typeof carrierNames)[number];

/** How each carrier is written in a sentence, and the sound it can stream; the first encoding is its default. */
export const carriers = {
  twilio: { title: "Twilio", encodings: [{ codec: "mulaw", ratesHz: [8_000] }] },
  telnyx: {
    title: "Telnyx",
    encodings: [
      { codec: "PCMU", ratesHz: [8_000] },
      { codec: "PCMA", ratesHz: [8_000] },
      { codec: "L16", ratesHz: [8_000, 16_000, 24_000] },
    ],
  },
  plivo: {
    title: "Plivo",
    encodings: [
      { codec: "mulaw", ratesHz: [8_000] },
      { codec: "L16", ratesHz: [8_000, 16_000] },
    ],
  },
  exotel: { title: "Exotel", encodings: [{ codec: "PCM", ratesHz: [8_000, 16_000, 24_000] }] },
} as const;

export function isCarrier(transport: string): transport is CarrierName {
  return (carrierNames as readonly string[]).includes(transport);
}

/** The rates at which a carrier streams this codec; none if it does not have it. */
export function carrierRatesHz(carrier: CarrierName, codec: string): readonly number[] {
  return carriers[carrier].encodings.find((encoding) => encoding.codec === codec)?.ratesHz ?? [];
}
