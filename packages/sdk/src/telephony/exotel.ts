import { asMessage, asNumber, asText, readCommonEvent, type Carrier } from "./carrier.ts";

// Exotel drops pieces below 3,200 bytes or of an odd size; ours are exactly that, a multiple of 320.
const CHUNK_BYTES = 3_200;
const BYTES_PER_SAMPLE = 2;

/** Exotel voicebot: 16-bit PCM in large pieces, no REST hang-up: closing the socket goes on with the flow. */
export const exotel: Carrier = {
  name: "exotel",
  open(message, address) {
    const start = asMessage(message["start"]);
    const streamSid = asText(start["stream_sid"]);
    const callSid = asText(start["call_sid"]);
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
      chunkMs: (CHUNK_BYTES / BYTES_PER_SAMPLE / sampleRateHz) * 1000,
      acknowledgesMarks: true,
      read: readCommonEvent,
      media: (payload) => JSON.stringify({ event: "media", stream_sid: streamSid, media: { payload } }),
      mark: (name) => JSON.stringify({ event: "mark", stream_sid: streamSid, mark: { name } }),
      clear: () => JSON.stringify({ event: "clear", stream_sid: streamSid }),
      hangUp: () => undefined,
    };
  },
};

function pcmRate(sampleRateHz: number | undefined): number {
  return sampleRateHz === 16_000 || sampleRateHz === 24_000 ? sampleRateHz : 8_000;
}
