import { carrierRatesHz } from "@vocalhost/protocol";
import { isKey } from "../caller/keys.ts";
import { toBase64 } from "./base64.ts";
import {
  objectField,
  payloadField,
  readBotMessage,
  refuse,
  refuseUnknown,
  requireStream,
  textField,
  type BotRequest,
  type IncomingMessage,
  type JsonObject,
} from "./bot-message.ts";
import type { CallDetails, Carrier } from "./carrier.ts";
import { decodeSamples, encodeSamples, type WireFormat } from "./wire-format.ts";

/** Plivo audio streams: no `connected`, numbers are numbers, and the bot says `playAudio` and `checkpoint`. */
export function createPlivo(details: CallDetails, options: PlivoOptions = {}): Carrier {
  const { callId, streamId, accountId } = details.ids;
  const { contentType, sampleRateHz } = options.format ?? {
    contentType: "audio/x-mulaw",
    sampleRateHz: 8000,
  };
  const format = wireFormat({ contentType, sampleRateHz });
  const extra_headers = extraHeaders(details.parameters);
  let sequenceNumber = 0;
  let chunk = 0;

  function numbered(event: string, body: object): string {
    sequenceNumber += 1;
    return JSON.stringify({ sequenceNumber, streamId, event, ...body, extra_headers });
  }

  function samplesOf(media: JsonObject): Int16Array {
    const given = textField(media, "contentType");
    if (given !== contentType)
      refuse("wrong-format", `contentType is "${given}", the stream is "${contentType}"`);
    const rate = media["sampleRate"];
    if (typeof rate !== "number")
      refuse("wrong-format", `sampleRate must be a number, not ${JSON.stringify(rate)}`);
    if (rate !== sampleRateHz)
      refuse("wrong-format", `sampleRate is ${rate}, the stream has ${sampleRateHz}`);
    return decodeSamples(payloadField(media), format.encoding);
  }

  function interpret({ event, message }: IncomingMessage): BotRequest {
    switch (event) {
      case "playAudio":
        if (message["streamId"] !== undefined) requireStream(message, "streamId", streamId);
        return { type: "play", samples: samplesOf(objectField(message, "media")) };
      case "checkpoint":
        requireStream(message, "streamId", streamId);
        return { type: "mark", name: textField(message, "name") };
      case "clearAudio":
        requireStream(message, "streamId", streamId);
        return { type: "clear" };
      case "sendDTMF":
        return { type: "press", digits: digitsOf(message) };
      default:
        return refuseUnknown("Plivo", event);
    }
  }

  return {
    name: "plivo",
    uplink: format,
    downlink: format,
    chunkMs: 20,
    keepsOrder: true,
    returnsClearedMarks: false,
    opening: () => [
      JSON.stringify({
        sequenceNumber,
        event: "start",
        start: {
          callId,
          streamId,
          accountId,
          tracks: ["inbound"],
          mediaFormat: { encoding: contentType, sampleRate: sampleRateHz },
        },
        extra_headers,
      }),
    ],
    media(samples, { epochMs }) {
      chunk += 1;
      const payload = toBase64(encodeSamples(samples, format.encoding));
      return numbered("media", { media: { track: "inbound", timestamp: String(epochMs), chunk, payload } });
    },
    digit: (digit, { epochMs }) =>
      numbered("dtmf", { dtmf: { track: "inbound", digit, timestamp: String(epochMs) } }),
    marked: (name) => JSON.stringify({ event: "playedStream", streamId, name }),
    cleared: () => JSON.stringify({ sequenceNumber: 0, event: "clearedAudio", streamId }),
    stop: () => undefined,
    read: (text) => readBotMessage(text, interpret),
    complaint: () => undefined,
  };
}

export interface PlivoOptions {
  /** As `contentType` of the XML says. @default mu-law at 8 kHz */
  format?: PlivoFormat;
}

export interface PlivoFormat {
  contentType: "audio/x-mulaw" | "audio/x-l16";
  sampleRateHz: number;
}

function wireFormat({ contentType, sampleRateHz }: PlivoFormat): WireFormat {
  const isMulaw = contentType === "audio/x-mulaw";
  if (!carrierRatesHz("plivo", isMulaw ? "mulaw" : "L16").includes(sampleRateHz))
    throw new RangeError(`Plivo has no ${contentType} at ${sampleRateHz} Hz`);
  return { encoding: isMulaw ? "mulaw" : "s16le", sampleRateHz };
}

function extraHeaders(parameters: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(parameters);
  return pairs.length === 0 ? "{}" : pairs.map(([key, value]) => `${key}=${value}`).join(";");
}

function digitsOf(message: JsonObject): string {
  const digits = textField(message, "dtmf");
  if (![...digits].every(isKey))
    refuse("bad-digits", `"${digits}" has characters other than 0-9, *, # and A-D`);
  return digits;
}
