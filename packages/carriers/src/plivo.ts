import {
  AppError,
  basicAuthorization,
  carrierRatesHz,
  type CarrierAccounts,
  type CarrierRequest,
} from "@vocalhost/protocol";
import {
  answeredBy,
  asId,
  asMessage,
  asNumber,
  asText,
  CarrierError,
  readCommonEvent,
  type Carrier,
  type CarrierEvent,
  type CarrierMessage,
  type HangUp,
  type Transfer,
} from "./carrier.ts";
import type { WireFormat } from "./wire-format.ts";

/** Plivo audio streams: no greeting before `start`, play-out is told by checkpoints. */
export const plivo: Carrier = {
  name: "plivo",
  open(message) {
    const start = asMessage(message["start"]);
    const streamId = asId(start["streamId"]);
    const callId = asId(start["callId"]);
    if (!streamId || !callId) return undefined;
    const format = asMessage(start["mediaFormat"]);
    const contentType = asText(format["encoding"]) ?? "audio/x-mulaw";
    const wire = wireFormat(contentType, asNumber(format["sampleRate"]));
    const passedOn = readExtraHeaders(message["extra_headers"]);
    return {
      carrier: "plivo",
      callData: {
        streamId,
        callId,
        from: passedOn["from"] ?? null,
        to: passedOn["to"] ?? null,
        body: passedOn,
        ...answeredBy(passedOn["answeredBy"]),
      },
      receives: wire,
      sends: wire, // the codec cannot change during a stream
      chunkMs: 40,
      acknowledgesMarks: true,
      read: readEvent,
      media: (payload) =>
        JSON.stringify({
          event: "playAudio",
          streamId,
          media: { contentType: contentType.split(";", 1)[0], sampleRate: wire.sampleRateHz, payload },
        }),
      mark: (name) => JSON.stringify({ event: "checkpoint", streamId, name }),
      clear: () => JSON.stringify({ event: "clearAudio", streamId }),
      hangUp: (accounts) => hangUp(accounts, callId),
      transfer: (accounts, target) => transfer(accounts, callId, target),
      keys: { over: "socket", message: (keys) => JSON.stringify({ event: "sendDTMF", dtmf: keys }) },
    };
  },
};

function readEvent(message: CarrierMessage): CarrierEvent | undefined {
  if (message["event"] !== "playedStream") return readCommonEvent(message);
  const name = asText(message["name"]);
  return name ? { type: "mark", name } : undefined;
}

function wireFormat(contentType: string, sampleRateHz: number | undefined): WireFormat {
  const [kind, rate] = contentType.split(";rate=");
  const wireRate = sampleRateHz ?? asNumber(rate) ?? 8_000;
  if (kind === "audio/x-mulaw") return { encoding: "mulaw", sampleRateHz: 8_000 };
  if (kind === "audio/x-l16" && carrierRatesHz("plivo", "L16").includes(wireRate))
    return { encoding: "pcm", sampleRateHz: wireRate };
  throw new CarrierError(
    `Plivo streams ${contentType} at ${wireRate} Hz, which is not supported. Set contentType="audio/x-mulaw;rate=8000" on <Stream>.`,
  );
}

/** Arrives as a JSON object or as `key=value` pairs, depending on how it was set. */
function readExtraHeaders(value: unknown): Record<string, string> {
  const text = asText(value) ?? "";
  if (text.startsWith("{")) return textFields(parseObject(text));
  if (text === "") return textFields(asMessage(value));
  const pairs = text.split(/[,;]/).flatMap((pair) => {
    const at = pair.indexOf("=");
    return at > 0 ? [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const] : [];
  });
  return Object.fromEntries(pairs);
}

function parseObject(text: string): CarrierMessage {
  try {
    return asMessage(JSON.parse(text));
  } catch {
    return {};
  }
}

function textFields(fields: CarrierMessage): Record<string, string> {
  const plain = Object.entries(fields).filter(([, field]) => field !== null && typeof field !== "object");
  return Object.fromEntries(plain.map(([name, field]) => [name, String(field)]));
}

function hangUp({ plivo: account, addresses }: CarrierAccounts, callId: string): HangUp | undefined {
  if (!account) return undefined;
  const { authId, authToken } = account;
  return {
    carrier: "plivo",
    url: callUrl(addresses.plivo, authId, callId),
    method: "DELETE",
    headers: { authorization: basicAuthorization(authId, authToken) },
    isAlreadyOver: (status) => status === 404,
  };
}

/** Plivo takes no instructions in the request: it fetches them, so we must have an address it can reach. */
function transfer(
  { plivo: account, addresses }: CarrierAccounts,
  callId: string,
  { to, callerId, callbackUrl }: Transfer,
): CarrierRequest | undefined {
  if (!account) return undefined;
  if (callbackUrl === undefined)
    throw new AppError("CARRIER_REFUSED", {
      message:
        "Plivo asks a public address of ours what a transferred call is to do: start the runner with --proxy",
    });
  const { authId, authToken } = account;
  const query = new URLSearchParams({ to, ...(callerId ? { callerId } : {}) });
  return {
    carrier: "plivo",
    url: callUrl(addresses.plivo, authId, callId),
    method: "POST",
    headers: { authorization: basicAuthorization(authId, authToken), "content-type": "application/json" },
    body: JSON.stringify({
      legs: "aleg",
      aleg_url: `${callbackUrl}/calls/transfer?${query.toString()}`,
      aleg_method: "POST",
    }),
  };
}

function callUrl(address: string, authId: string, callId: string): string {
  return `${address}/v1/Account/${encodeURIComponent(authId)}/Call/${encodeURIComponent(callId)}/`;
}
