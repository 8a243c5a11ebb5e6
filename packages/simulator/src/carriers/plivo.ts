import { isKey } from "../caller/keypad.ts";
import { AnswerError, noStream, streamUrl } from "./answer-element.ts";
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
import type { CallDetails, Carrier, SimulatedCarrier } from "./carrier.ts";
import {
  decodeSamples,
  encodeSamples,
  randomHex,
  randomUuid,
  toBase64,
  type WireFormat,
} from "./wire-format.ts";

const HEADERS_MAX_BYTES = 512;

export const plivo: SimulatedCarrier<PlivoOptions> = {
  newIds: () => ({
    callId: randomUuid(),
    streamId: randomUuid(),
    accountId: `MA${randomHex(9).toUpperCase()}`,
    sessionId: "",
  }),
  create: createPlivo,
  choose: ({ codec, sampleRateHz }) => ({
    format: { contentType: codec === "L16" ? "audio/x-l16" : "audio/x-mulaw", sampleRateHz },
  }),
  refusalOf(parameters) {
    const bytes = Object.entries(parameters).reduce(
      (sum, [name, value]) => sum + name.length + value.length + 1,
      0,
    );
    return bytes > HEADERS_MAX_BYTES ? "Plivo allows 512 bytes of extra headers." : undefined;
  },
  readXml(root) {
    const remarks: string[] = [];
    const stream = root.children.find(({ name }) => name === "Stream") ?? noStream(root, "<Stream>");
    const { attributes } = stream;
    if (attributes["bidirectional"] !== "true")
      throw new AnswerError(
        'The <Stream> is one-way: bidirectional="true" is missing.',
        "The caller would hear nothing.",
      );
    if (attributes["keepCallAlive"] !== "true")
      remarks.push('Without keepCallAlive="true" Plivo goes on at once, and the call may end.');
    const contentType = /^(audio\/x-mulaw|audio\/x-l16);\s*rate=(\d+)$/.exec(attributes["contentType"] ?? "");
    if (!contentType)
      throw new AnswerError(
        "The <Stream> needs a contentType.",
        "One of audio/x-mulaw;rate=8000, audio/x-l16;rate=8000, audio/x-l16;rate=16000.",
      );
    return {
      url: streamUrl(stream.text).href,
      parameters: readHeaders(attributes["extraHeaders"] ?? ""),
      options: {
        format: {
          contentType: contentType[1] === "audio/x-l16" ? "audio/x-l16" : "audio/x-mulaw",
          sampleRateHz: Number(contentType[2]),
        },
      },
      remarks,
    };
  },
};

function readHeaders(text: string): Record<string, string> {
  if (text.length > HEADERS_MAX_BYTES)
    throw new AnswerError("extraHeaders is too long.", "Plivo allows 512 bytes.");
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name.trim(), value.join("=").trim()];
    }),
  );
}

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

  function interpret({ event, message }: IncomingMessage): BotRequest {
    switch (event) {
      case "playAudio":
        if (message["streamId"] !== undefined) requireStream(message, "streamId", streamId);
        return {
          type: "play",
          samples: samplesOf(objectField(message, "media"), { contentType, sampleRateHz }),
        };
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

function samplesOf(media: JsonObject, { contentType, sampleRateHz }: PlivoFormat): Int16Array {
  const given = textField(media, "contentType");
  if (given !== contentType)
    refuse("wrong-format", `contentType is "${given}", the stream is "${contentType}"`);
  const rate = media["sampleRate"];
  if (typeof rate !== "number")
    refuse("wrong-format", `sampleRate must be a number, not ${JSON.stringify(rate)}`);
  if (rate !== sampleRateHz) refuse("wrong-format", `sampleRate is ${rate}, the stream has ${sampleRateHz}`);
  return decodeSamples(payloadField(media), wireFormat({ contentType, sampleRateHz }).encoding);
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
  if (!(isMulaw ? [8000] : [8000, 16_000]).includes(sampleRateHz))
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
