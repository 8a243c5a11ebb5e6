import { AnswerError, connectedStream, readParameters, streamUrl } from "./answer-element.ts";
import {
  objectField,
  payloadField,
  readBotMessage,
  refuse,
  refuseUnknown,
  textField,
  type BotMessage,
  type BotRequest,
  type IncomingMessage,
  type JsonObject,
  type ViolationCode,
} from "./bot-message.ts";
import type { CallDetails, Carrier, SimulatedCarrier } from "./carrier.ts";
import {
  bytesPerSample,
  decodeSamples,
  encodeSamples,
  randomLetters,
  randomUuid,
  toBase64,
  type WireFormat,
} from "./wire-format.ts";

const RATES_HZ = { PCMU: [8000], PCMA: [8000], L16: [8000, 16_000, 24_000] };

export const telnyx: SimulatedCarrier<TelnyxOptions> = {
  newIds: () => ({
    callId: `v3:${randomLetters(51)}`,
    streamId: randomUuid(),
    accountId: randomUuid(),
    sessionId: randomUuid(),
  }),
  create: createTelnyx,
  hasBotEncoding: true,
  choose: (encoding, botEncoding) => ({
    uplink: format(encoding.codec, encoding.sampleRateHz),
    downlink: botEncoding ? format(botEncoding.codec, botEncoding.sampleRateHz) : DEFAULT_FORMAT,
  }),
  readXml(root, { uplink = DEFAULT_FORMAT }) {
    const { attributes, ...stream } = connectedStream(root);
    const remarks: string[] = [];
    const isRaw = attributes["bidirectionalMode"] === "rtp";
    if (!isRaw) remarks.push('Without bidirectionalMode="rtp" Telnyx plays nothing but MP3.');
    const wantedCodec = attributes["codec"] ?? "default";
    return {
      url: streamUrl(attributes["url"]).href,
      parameters: readParameters(stream),
      options: {
        uplink: wantedCodec === "default" ? uplink : format(wantedCodec, uplink.sampleRateHz),
        downlink: format(
          attributes["bidirectionalCodec"] ?? "PCMU",
          Number(attributes["bidirectionalSamplingRate"] ?? 8000),
        ),
        bidirectionalMode: isRaw ? "rtp" : "mp3",
      },
      remarks,
    };
  },
};

function format(name: string, sampleRateHz: number): TelnyxFormat {
  const codecs = Object.keys(RATES_HZ) as TelnyxCodec[];
  const codec = codecs.find((known) => known === name);
  if (!codec)
    throw new AnswerError(`The codec "${name}" cannot be simulated.`, `These can: ${codecs.join(", ")}.`);
  return { codec, sampleRateHz: codec === "L16" ? sampleRateHz : 8000 };
}

/** Telnyx media streaming: each direction has a codec of its own, mistakes are answered with `error`. */
export function createTelnyx(details: CallDetails, options: TelnyxOptions = {}): Carrier {
  const { ids, from, to, parameters } = details;
  const { streamId: stream_id, callId: call_control_id, accountId: user_id } = ids;
  const receive = options.uplink ?? DEFAULT_FORMAT;
  const send = options.downlink ?? DEFAULT_FORMAT;
  const { bidirectionalMode = "rtp" } = options;
  const uplink = wireFormat(receive);
  const downlink = wireFormat(send);
  let sequenceNumber = 0;
  let chunk = 0;

  function numbered(event: string, body: object): string {
    sequenceNumber += 1;
    return JSON.stringify({ event, sequence_number: String(sequenceNumber), stream_id, ...body });
  }

  function interpret({ event, message }: IncomingMessage): BotRequest {
    if (event === "clear") return { type: "clear" };
    if (event === "mark") return { type: "mark", name: textField(objectField(message, "mark"), "name") };
    if (event === "media")
      return {
        type: "play",
        samples: samplesOf(objectField(message, "media"), { downlink, bidirectionalMode }),
      };
    return refuseUnknown("Telnyx", event);
  }

  return {
    name: "telnyx",
    uplink,
    downlink,
    chunkMs: 20,
    keepsOrder: false,
    returnsClearedMarks: true,
    opening: () => [
      JSON.stringify({ event: "connected", version: "1.0.0" }),
      numbered("start", {
        start: {
          user_id,
          call_control_id,
          call_session_id: ids.sessionId,
          from,
          to,
          tags: [],
          client_state: options.clientState,
          custom_parameters: parameters,
          media_format: { encoding: receive.codec, sample_rate: receive.sampleRateHz, channels: 1 },
        },
      }),
    ],
    media(samples, { streamMs }) {
      chunk += 1;
      const payload = toBase64(encodeSamples(samples, uplink.encoding));
      const media = {
        track: "inbound",
        chunk: String(chunk),
        timestamp: String(Math.round(streamMs)),
        payload,
      };
      return numbered("media", { media });
    },
    digit: (digit, { epochMs }) =>
      numbered("dtmf", { occurred_at: new Date(epochMs).toISOString(), dtmf: { digit } }),
    marked: (name) => numbered("mark", { mark: { name } }),
    cleared: () => undefined,
    stop: () => numbered("stop", { stop: { user_id, call_control_id } }),
    read: (text) => readBotMessage(text, interpret),
    complaint: (message) => complaint(message, stream_id),
  };
}

function samplesOf(
  media: JsonObject,
  { downlink, bidirectionalMode }: { downlink: WireFormat; bidirectionalMode: "rtp" | "mp3" },
): Int16Array {
  const bytes = payloadField(media);
  if (bidirectionalMode === "mp3")
    refuse("wrong-format", 'raw audio needs bidirectionalMode="rtp" in the TeXML; without it only MP3 plays');
  const sampleBytes = bytesPerSample(downlink.encoding);
  if (bytes.length % sampleBytes !== 0) refuse("bad-size", "the payload ends within a sample");
  const lengthMs = (bytes.length * 1000) / (sampleBytes * downlink.sampleRateHz);
  if (lengthMs < MIN_CHUNK_MS || lengthMs > MAX_CHUNK_MS)
    refuse("bad-size", `a message must hold 20 ms to 30 s of audio, this one holds ${lengthMs} ms`);
  return decodeSamples(bytes, downlink.encoding);
}

export interface TelnyxOptions {
  /** Codec of the caller's leg, what the bot receives. @default PCMU at 8 kHz */
  uplink?: TelnyxFormat;
  /** `bidirectionalCodec` of the set-up, what the bot must send. @default PCMU at 8 kHz */
  downlink?: TelnyxFormat;
  /** @default "rtp" */
  bidirectionalMode?: "rtp" | "mp3";
  /** base64, as the application set it. */
  clientState?: string;
}

export type TelnyxCodec = keyof typeof RATES_HZ;

export interface TelnyxFormat {
  codec: TelnyxCodec;
  sampleRateHz: number;
}

const DEFAULT_FORMAT: TelnyxFormat = { codec: "PCMU", sampleRateHz: 8000 };
const ENCODINGS = { PCMU: "mulaw", PCMA: "alaw", L16: "s16be" } as const;
const MIN_CHUNK_MS = 20;
const MAX_CHUNK_MS = 30_000;

function wireFormat({ codec, sampleRateHz }: TelnyxFormat): WireFormat {
  const ratesHz = RATES_HZ[codec];
  if (!ratesHz.includes(sampleRateHz))
    throw new RangeError(`Telnyx has no ${codec} at ${sampleRateHz} Hz; it has ${ratesHz.join(", ")}`);
  return { encoding: ENCODINGS[codec], sampleRateHz };
}

function complaint({ violations }: BotMessage, stream_id: string): string | undefined {
  const [first] = violations;
  if (!first) return undefined;
  const [code, title] = ERRORS[first.code] ?? [100_003, "malformed_frame"];
  return JSON.stringify({ event: "error", stream_id, payload: { code, title, detail: first.detail } });
}

const ERRORS: Partial<Record<ViolationCode, [number, string]>> = {
  "bad-base64": [100_004, "invalid_media"],
  "wrong-format": [100_004, "invalid_media"],
  "bad-size": [100_004, "invalid_media"],
};
