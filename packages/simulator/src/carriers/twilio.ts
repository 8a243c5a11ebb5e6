import { AnswerError, connectedStream, readParameters, streamUrl } from "./answer-element.ts";
import {
  objectField,
  payloadField,
  readBotMessage,
  refuseUnknown,
  requireStream,
  textField,
  type BotRequest,
  type IncomingMessage,
} from "./bot-message.ts";
import type { CallDetails, Carrier, SimulatedCarrier } from "./carrier.ts";
import { decodeSamples, encodeSamples, randomHex, toBase64, type WireFormat } from "./wire-format.ts";

const PARAMETER_MAX_CHARACTERS = 500; // name and value together

export const twilio: SimulatedCarrier = {
  newIds: () => ({
    callId: `CA${randomHex(16)}`,
    streamId: `MZ${randomHex(16)}`,
    accountId: `AC${randomHex(16)}`,
    sessionId: "",
  }),
  create: createTwilio,
  choose: () => ({}),
  refusalOf: (parameters) =>
    Object.entries(parameters).some(([name, value]) => name.length + value.length > PARAMETER_MAX_CHARACTERS)
      ? "Twilio allows 500 characters per parameter, name and value together."
      : undefined,
  dial(address) {
    if (address.search === "") return undefined;
    address.search = "";
    return "Twilio drops the query of the stream's URL, so it was left out.";
  },
  readXml(root) {
    const remarks: string[] = [];
    const stream = connectedStream(root);
    const url = streamUrl(stream.attributes["url"]);
    if (url.search !== "")
      remarks.push("Twilio drops the query of the stream's URL; use <Parameter> instead.");
    url.search = "";
    if (url.protocol !== "wss:" && !isThisMachine(url.hostname)) remarks.push("Twilio takes wss:// only.");
    const parameters = readParameters(stream);
    for (const [name, value] of Object.entries(parameters)) {
      if (name.length + value.length > PARAMETER_MAX_CHARACTERS)
        throw new AnswerError(
          `<Parameter name="${name}"> is too long.`,
          "Name and value may have 500 characters in total.",
        );
    }
    return { url: url.href, parameters, options: {}, remarks };
  },
};

// No carrier reaches it there, so the scheme says nothing about what happens later.
function isThisMachine(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}

/** Twilio Media Streams, bidirectional: mu-law at 8 kHz both ways, numbers written as text. */
export function createTwilio(details: CallDetails): Carrier {
  const { callId: callSid, streamId: streamSid, accountId: accountSid } = details.ids;
  let sequenceNumber = 0;
  let chunk = 0;

  function numbered(event: string, body: object): string {
    sequenceNumber += 1;
    return JSON.stringify({ event, sequenceNumber: String(sequenceNumber), streamSid, ...body });
  }

  function interpret({ event, message }: IncomingMessage): BotRequest {
    if (!["media", "mark", "clear"].includes(event)) refuseUnknown("Twilio", event);
    requireStream(message, "streamSid", streamSid);
    if (event === "clear") return { type: "clear" };
    if (event === "mark") return { type: "mark", name: textField(objectField(message, "mark"), "name") };
    return { type: "play", samples: decodeSamples(payloadField(objectField(message, "media")), "mulaw") };
  }

  return {
    name: "twilio",
    uplink: MULAW_8K,
    downlink: MULAW_8K,
    chunkMs: 20,
    keepsOrder: true,
    returnsClearedMarks: true,
    opening: () => [
      JSON.stringify({ event: "connected", protocol: "Call", version: "1.0.0" }),
      numbered("start", {
        start: {
          streamSid,
          accountSid,
          callSid,
          tracks: ["inbound"],
          mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
          customParameters: details.parameters,
        },
      }),
    ],
    media(samples, { streamMs }) {
      chunk += 1;
      const payload = toBase64(encodeSamples(samples, "mulaw"));
      const media = {
        track: "inbound",
        chunk: String(chunk),
        timestamp: String(Math.round(streamMs)),
        payload,
      };
      return numbered("media", { media });
    },
    digit: (digit) => numbered("dtmf", { dtmf: { track: "inbound_track", digit } }),
    marked: (name) => numbered("mark", { mark: { name } }),
    cleared: () => undefined,
    stop: () => numbered("stop", { stop: { accountSid, callSid } }),
    read: (text) => readBotMessage(text, interpret),
    complaint: () => undefined,
  };
}

const MULAW_8K: WireFormat = { encoding: "mulaw", sampleRateHz: 8000 };
