import { carriers } from "@vocalhost/protocol";
import { asId, asMessage, asNumber, asText, readCommonEvent, type Carrier } from "./carrier.ts";

// Exotel drops pieces below 3,200 bytes or of an odd size: these make 3,200 or 4,800, multiples of 320.
const CHUNK_MS: Record<ExotelRateHz, number> = { 8_000: 200, 16_000: 100, 24_000: 100 };

/** Exotel voicebot: 16-bit PCM in large pieces, no REST hang-up: closing the socket goes on with the flow. */
export const exotel: Carrier = {
  name: "exotel",
  open(message, address) {
    const start = asMessage(message["start"]);
    const streamSid = asId(start["stream_sid"]);
    const callSid = asId(start["call_sid"]);
    const accountSid = asText(start["account_sid"]);
    if (message["event"] !== "start" || !streamSid || !callSid || !accountSid) return undefined;
    const stated = asNumber(asMessage(start["media_format"])["sample_rate"]);
    const sampleRateHz = pcmRate(asNumber(address.get("sample-rate")) ?? stated);
    const wire = { encoding: "pcm", sampleRateHz } as const;
    return {
      carrier: "exotel",
      callData: {
        streamId: streamSid,
        callId: callSid,
        from: asText(start["from"]) ?? null,
        to: asText(start["to"]) ?? null,
        body: {},
        accountSid,
        customParameters: asMessage(start["custom_parameters"]),
      },
      receives: wire,
      sends: wire,
      chunkMs: CHUNK_MS[sampleRateHz],
      acknowledgesMarks: true,
      read: readCommonEvent,
      media: (payload) => JSON.stringify({ event: "media", stream_sid: streamSid, media: { payload } }),
      mark: (name) => JSON.stringify({ event: "mark", stream_sid: streamSid, mark: { name } }),
      clear: () => JSON.stringify({ event: "clear", stream_sid: streamSid }),
      hangUp: () => undefined,
      transfer: undefined,
      keys: undefined,
    };
  },
};

const { ratesHz } = carriers.exotel.encodings[0];
type ExotelRateHz = (typeof ratesHz)[number];

function pcmRate(sampleRateHz: number | undefined): ExotelRateHz {
  return ratesHz.find((rate) => rate === sampleRateHz) ?? 8_000;
}
