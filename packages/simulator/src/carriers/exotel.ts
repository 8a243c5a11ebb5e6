import { AnswerError } from "./answer-element.ts";
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

const RATES_HZ = [8000, 16_000, 24_000];
const PARAMETERS_MAX = 3;
const PARAMETERS_MAX_CHARACTERS = 256;

export const exotel: SimulatedCarrier<ExotelOptions> = {
  newIds: () => ({
    callId: randomHex(16),
    streamId: randomHex(16),
    accountId: "simulated1",
    sessionId: "",
  }),
  create: createExotel,
  choose: ({ sampleRateHz }) => ({ sampleRateHz }),
  encodingIn(address) {
    const rate = address.searchParams.get("sample-rate");
    return rate ? `PCM/${rate}` : undefined;
  },
  refusalOf(parameters) {
    const pairs = Object.entries(parameters);
    const characters = pairs.reduce((sum, [name, value]) => sum + name.length + value.length + 1, 0);
    return pairs.length > PARAMETERS_MAX || characters > PARAMETERS_MAX_CHARACTERS
      ? "Exotel allows 3 parameters with 256 characters in total."
      : undefined;
  },
  dial(address, parameters, { sampleRateHz = 8000 }) {
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
    if (sampleRateHz !== 8000) address.searchParams.set("sample-rate", String(sampleRateHz));
    return undefined;
  },
  readJson(answer, parameters) {
    const { url } = (answer ?? {}) as { url?: unknown };
    if (typeof url !== "string" || !/^wss?:/.test(url) || !URL.canParse(url))
      throw new AnswerError(
        'The webhook did not answer {"url": "wss://…"}.',
        "Exotel uses no XML: its applet holds the stream's address, or asks one of your URLs for it.",
        "Call the stream directly: vocalhost call --carrier exotel --to ws://localhost:7860/ws",
      );
    const rate = new URL(url).searchParams.get("sample-rate");
    return {
      url,
      parameters: { ...parameters },
      options: { sampleRateHz: Number(rate ?? 8000) },
      remarks: [],
    };
  },
};

/** Exotel's voicebot: linear PCM in chunks of about 100 ms, and picky about the size of the bot's. */
export function createExotel(details: CallDetails, options: ExotelOptions = {}): Carrier {
  const { callId: call_sid, streamId: stream_sid, accountId: account_sid } = details.ids;
  const sampleRateHz = options.sampleRateHz ?? 8000;
  if (!RATES_HZ.includes(sampleRateHz)) throw new RangeError(`Exotel has no PCM at ${sampleRateHz} Hz`);
  const format: WireFormat = { encoding: "s16le", sampleRateHz };
  let sequenceNumber = 0;
  let chunk = 0;

  function numbered(event: string, body: object): string {
    sequenceNumber += 1;
    return JSON.stringify({ event, sequence_number: String(sequenceNumber), stream_sid, ...body });
  }

  function interpret(incoming: IncomingMessage): BotRequest {
    const { event, message } = incoming;
    if (!["media", "mark", "clear"].includes(event)) refuseUnknown("Exotel", event);
    requireStream(message, "stream_sid", stream_sid);
    if (event === "clear") return { type: "clear" };
    if (event === "mark") return { type: "mark", name: textField(objectField(message, "mark"), "name") };
    return { type: "play", samples: playableSamples(payloadField(objectField(message, "media")), incoming) };
  }

  return {
    name: "exotel",
    uplink: format,
    downlink: format,
    chunkMs: 100,
    keepsOrder: true,
    returnsClearedMarks: true,
    opening: () => [
      JSON.stringify({ event: "connected" }),
      numbered("start", {
        start: {
          stream_sid,
          call_sid,
          account_sid,
          from: details.from,
          to: details.to,
          custom_parameters: details.parameters,
          media_format: {
            encoding: "base64",
            sample_rate: String(sampleRateHz),
            bit_rate: `${(sampleRateHz * 16) / 1000}kbps`,
          },
        },
      }),
    ],
    media(samples, { streamMs }) {
      chunk += 1;
      const payload = toBase64(encodeSamples(samples, "s16le"));
      return numbered("media", {
        media: { chunk: String(chunk), timestamp: String(Math.round(streamMs)), payload },
      });
    },
    digit: (digit) => numbered("dtmf", { dtmf: { duration: "100", digit } }),
    marked: (name) => numbered("mark", { mark: { name } }),
    cleared: () => undefined,
    stop: () => numbered("stop", { stop: { call_sid, account_sid, reason: "callended" } }),
    read: (text) => readBotMessage(text, interpret),
    complaint: () => undefined,
  };
}

export interface ExotelOptions {
  /** `sample-rate` of the stream's URL; counts for both directions. @default 8000 */
  sampleRateHz?: number;
}

const MIN_CHUNK_BYTES = 3200;
const MAX_CHUNK_BYTES = 100 * 1024;
const BLOCK_BYTES = 320;
const SAMPLE_BYTES = 2;

/** The documented sizes are advice: others distort, come late or leave gaps, which is said; all of them are played. */
function playableSamples(bytes: Uint8Array, { note }: IncomingMessage): Int16Array {
  if (bytes.length > MAX_CHUNK_BYTES) note("bad-size", `${bytes.length} bytes are more than 100 KB`);
  if (bytes.length < MIN_CHUNK_BYTES) note("bad-size", `${bytes.length} bytes are fewer than 3200`);
  if (bytes.length % BLOCK_BYTES > 0) note("bad-size", `${bytes.length} bytes are not a multiple of 320`);
  return decodeSamples(bytes.subarray(0, bytes.length - (bytes.length % SAMPLE_BYTES)), "s16le");
}
