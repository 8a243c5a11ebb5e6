import { answeredByField, basicAuthorization, formBody, type Carrier } from "./carrier.ts";
import { asId, asMessage, asNumber, asText, readCommonEvent } from "./message.ts";

type Account = { accountSid: string; apiKey: string; apiToken: string };

const RATES_HZ = [8_000, 16_000, 24_000] as const;
type RateHz = (typeof RATES_HZ)[number];

// Exotel drops pieces below 3,200 bytes or of an odd size: these make 3,200 or 4,800, multiples of 320.
const CHUNK_MS: Record<RateHz, number> = { 8_000: 200, 16_000: 100, 24_000: 100 };

/** Exotel voicebot: 16-bit PCM in large pieces, no REST hang-up: closing the socket goes on with the flow. */
export const exotel: Carrier<Account> = {
  title: "Exotel",
  encodings: [{ codec: "PCM", ratesHz: RATES_HZ }],
  hint: "PCM, every 100 ms",
  account: {
    parts: { accountSid: "EXOTEL_ACCOUNT_SID", apiKey: "EXOTEL_API_KEY", apiToken: "EXOTEL_API_TOKEN" },
    address: () => "https://api.exotel.com",
  },
  signature: undefined,
  hasFixedAddress: true,
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
    };
  },
  dial({ account, address }, { to, from, streamUrl, ringSecs }) {
    return {
      url: `${address}/v1/Accounts/${encodeURIComponent(account.accountSid)}/Calls/connect.json`,
      method: "POST",
      headers: {
        authorization: basicAuthorization(account.apiKey, account.apiToken),
        "content-type": "application/x-www-form-urlencoded",
      },
      body: formBody({
        From: to, // whom it calls first, and here alone
        CallerId: from,
        StreamUrl: streamUrl,
        StreamType: "bidirectional",
        TimeOut: ringSecs?.toString(),
      }),
    };
  },
  callIdIn: (answer) => asMessage(answer["Call"])["Sid"],
  detectsMachines: false,
  transfer:
    "transfers no call on request: put a Connect applet behind the Voicebot applet, and return with call.hangUpOnReturn false",
  webhookFields: ({ callId, from, to }) => ({
    ...{ CallSid: callId, CallFrom: from, CallTo: to, Direction: "incoming" },
  }),
  asks: () => false, // its applet holds the address, and names itself in none of its requests
  answerJson: ({ url }) => ({
    error: "Exotel doesn't use POST webhooks",
    websocket_url: url,
    url,
    note: "Enter websocket_url in the Voicebot applet of your App Bazaar flow, followed by a Hangup applet.",
  }),
  answererIn: answeredByField,
  passedOn: () => ({}), // its streams name the numbers
};

function pcmRate(sampleRateHz: number | undefined): RateHz {
  return RATES_HZ.find((rate) => rate === sampleRateHz) ?? 8_000;
}
