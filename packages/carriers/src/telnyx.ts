import {
  answeredByField,
  CarrierError,
  formBody,
  type Carrier,
  type CarrierEvent,
  type CarrierMessage,
  type Rest,
  type RestRequest,
  type Signature,
  type WireFormat,
} from "./carrier.ts";
import { answeredBy, asId, asMessage, asNumber, asText, readCommonEvent } from "./message.ts";
import { fromBase64, header, toBase64, utf8 } from "./signing.ts";
import { connectStream, dialXml } from "./xml.ts";

type Account = { apiKey: string; accountSid?: string; applicationId?: string };

const SIGNATURE = "telnyx-signature-ed25519";
const TIMESTAMP = "telnyx-timestamp";
const TOLERANCE_S = 300;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** Ed25519 over the time and the raw body. */
const signature: Signature = {
  header: SIGNATURE,
  variable: "TELNYX_PUBLIC_KEY", // base64 of the 32 bytes the Telnyx portal shows
  secretVariable: "TELNYX_PRIVATE_KEY",
  checkKey: (key) => void keyBytes(key),
  async verify(request, publicKey) {
    const given = header(request, SIGNATURE) ?? "";
    const bytes = fromBase64(given);
    const timestamp = header(request, TIMESTAMP) ?? "";
    const age = Math.abs(request.nowMs / 1000 - Number(timestamp));
    const isSignature = bytes.length === SIGNATURE_BYTES && toBase64(bytes) === given;
    if (!isSignature || !/^\d{1,12}$/.test(timestamp) || age > TOLERANCE_S) return false;
    const key = await crypto.subtle.importKey("raw", keyBytes(publicKey), "Ed25519", false, ["verify"]);
    return crypto.subtle.verify("Ed25519", key, bytes, utf8(`${timestamp}|${request.rawBody}`));
  },
  async sign({ form }, secret) {
    const timestamp = Math.floor(Date.now() / 1000).toString();
    return { [TIMESTAMP]: timestamp, [SIGNATURE]: await signTelnyx(form, timestamp, secret) };
  },
  async counterpart(secret) {
    const { x = "" } = await crypto.subtle.exportKey("jwk", await privateKey(secret));
    return `TELNYX_PUBLIC_KEY=${toBase64(fromBase64(x.replaceAll("-", "+").replaceAll("_", "/")))}`;
  },
};

/** Telnyx media streaming: negotiated encodings, snake case, media possibly out of order. */
export const telnyx: Carrier<Account> = {
  title: "Telnyx",
  encodings: [
    { codec: "PCMU", ratesHz: [8_000] },
    { codec: "PCMA", ratesHz: [8_000] },
    { codec: "L16", ratesHz: [8_000, 16_000, 24_000] },
  ],
  hint: "µ-law, in any order",
  account: {
    parts: { apiKey: "TELNYX_API_KEY" },
    dialling: { accountSid: "TELNYX_ACCOUNT_SID", applicationId: "TELNYX_APPLICATION_ID" },
    address: () => "https://api.telnyx.com",
  },
  signature,
  open(message, address) {
    const start = asMessage(message["start"]);
    const streamId = asId(message["stream_id"]);
    const callControlId = asId(start["call_control_id"]);
    if (!streamId || !callControlId) return undefined;
    const format = asMessage(start["media_format"]);
    const encoding = asText(format["encoding"]) ?? "PCMU";
    const customParameters = asMessage(start["custom_parameters"]);
    return {
      callData: {
        streamId,
        callId: callControlId,
        from: asText(start["from"]) ?? null,
        to: asText(start["to"]) ?? null,
        body: {},
        outboundEncoding: encoding,
        customParameters,
        ...answeredBy(customParameters["answered_by"]),
      },
      receives: wireFormat(encoding, asNumber(format["sample_rate"])),
      // The TeXML fixes the format we send; its address names a format other than the default.
      sends: wireFormat(
        address.get("bidirectionalCodec") ?? "PCMU",
        asNumber(address.get("bidirectionalSamplingRate")),
      ),
      chunkMs: 40,
      acknowledgesMarks: true,
      read: readEvent,
      media: (payload) => JSON.stringify({ event: "media", media: { payload } }),
      mark: (name) => JSON.stringify({ event: "mark", mark: { name } }),
      clear: () => JSON.stringify({ event: "clear" }),
    };
  },
  dial({ account, address }, { to, from, answerUrl, machineDetection, ringSecs }) {
    return {
      url: `${address}/v2/texml/Accounts/${encodeURIComponent(account.accountSid)}/Calls`,
      method: "POST",
      headers: { authorization: `Bearer ${account.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        ApplicationSid: account.applicationId,
        To: to,
        From: from,
        Url: answerUrl,
        UrlMethod: "POST",
        // Its detection tells the status callback, whose answer is what the call then does.
        ...(machineDetection
          ? {
              MachineDetection: "Enable",
              AsyncAmd: false,
              StatusCallback: answerUrl,
              StatusCallbackMethod: "POST",
            }
          : {}),
        ...(ringSecs === undefined ? {} : { Timeout: ringSecs }),
      }),
    };
  },
  callIdIn: (answer) => answer["sid"] ?? answer["call_sid"],
  detectsMachines: true,
  hangUp: (rest, callControlId) => ({
    ...action(rest, callControlId, "hangup", {}),
    isAlreadyOver: (status, body) => status === 422 && body.includes("90018"),
  }),
  transfer: {
    // Calls of a TeXML application get new instructions; that takes the account. Others are transferred by Call Control.
    request(rest, callControlId, { to, callerId }) {
      const { account, address } = rest;
      if (!account.accountSid)
        return action(rest, callControlId, "transfer", { to, ...(callerId ? { from: callerId } : {}) });
      const path = `Accounts/${encodeURIComponent(account.accountSid)}/Calls/${encodeURIComponent(callControlId)}`;
      return {
        url: `${address}/v2/texml/${path}`,
        method: "POST",
        headers: {
          authorization: `Bearer ${account.apiKey}`,
          "content-type": "application/x-www-form-urlencoded",
        },
        body: formBody({ Texml: dialXml(to, callerId, "Sip") }),
      };
    },
  },
  keys: {
    over: "rest",
    request: (rest, callControlId, keys) => action(rest, callControlId, "send_dtmf", { digits: keys }),
  },
  // They look like Twilio's; only the ids differ.
  webhookFields: ({ callId, accountId, from, to }) => ({
    ...{ CallSid: callId, CallSidLegacy: callId, AccountSid: accountId, From: from, To: to },
    ...{ CallStatus: "ringing", Direction: "inbound", ConnectionId: CONNECTION_ID },
  }),
  asks: (fields) => fields.has("CallControlId") || /^v\d:/.test(fields.get("CallSid") ?? ""),
  answerXml: ({ url, answeredBy: answerer }) =>
    connectStream({ url, bidirectionalMode: "rtp" }, { answered_by: answerer }),
  answererIn: answeredByField,
  passedOn: () => ({}), // its streams name the numbers
};

const CONNECTION_ID = "1494404757140276705"; // of a Telnyx application; any number of that length

function readEvent(message: CarrierMessage): CarrierEvent | undefined {
  if (message["event"] === "error") return { type: "problem", text: problemText(message["payload"]) };
  const event = readCommonEvent(message);
  if (event?.type !== "media") return event;
  const chunk = asNumber(asMessage(message["media"])["chunk"]);
  return chunk === undefined ? event : { ...event, chunk };
}

const PROBLEM_MAX_CHARS = 300; // for a log line

function problemText(payload: unknown): string {
  const { code, title, detail } = asMessage(payload);
  const parts = [asNumber(code), asText(title), asText(detail)].filter((part) => part !== undefined);
  return parts.join(" ").slice(0, PROBLEM_MAX_CHARS);
}

function wireFormat(encoding: string, sampleRateHz: number | undefined): WireFormat {
  switch (encoding.toUpperCase()) {
    case "PCMU":
      return { encoding: "mulaw", sampleRateHz: 8_000 };
    case "PCMA":
      return { encoding: "alaw", sampleRateHz: 8_000 };
    case "L16":
      return { encoding: "pcm-network", sampleRateHz: pcmRate(sampleRateHz) };
    default:
      throw new CarrierError(
        `Telnyx streams ${encoding}, which is not supported. Set codec="PCMU" and bidirectionalCodec="PCMU" on <Stream>.`,
      );
  }
}

function pcmRate(sampleRateHz: number | undefined): number {
  const l16 = telnyx.encodings.find(({ codec }) => codec === "L16");
  return l16?.ratesHz.find((rate) => rate === sampleRateHz) ?? 8_000;
}

/** Does something with a call that is on. */
function action(
  { account, address }: Rest<Account>,
  callControlId: string,
  name: "hangup" | "transfer" | "send_dtmf",
  fields: Record<string, string>,
): RestRequest {
  return {
    url: `${address}/v2/calls/${encodeURIComponent(callControlId)}/actions/${name}`,
    method: "POST",
    headers: { authorization: `Bearer ${account.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(fields),
  };
}

export async function signTelnyx(body: string, timestamp: string, secret: string): Promise<string> {
  const key = await privateKey(secret);
  const signed = await crypto.subtle.sign("Ed25519", key, utf8(`${timestamp}|${body}`));
  return toBase64(new Uint8Array(signed));
}

function keyBytes(publicKey: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(publicKey);
  if (bytes.length === KEY_BYTES) return bytes;
  throw new CarrierError("TELNYX_PUBLIC_KEY must be 32 bytes of base64, as the portal shows it");
}

const PKCS8_START = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20]; // before the key

/** The key as PEM, or its 32 bytes (also with the public half behind them) as base64. */
async function privateKey(text: string) {
  const pem = /^\s*-----BEGIN PRIVATE KEY-----([\s\S]+)-----END PRIVATE KEY-----\s*$/.exec(text)?.[1];
  const bytes = fromBase64((pem ?? text).replaceAll(/\s/g, ""));
  if (pem === undefined && bytes.length !== 32 && bytes.length !== 64)
    throw new CarrierError("Telnyx's private key must be PEM, or 32 bytes as base64.");
  const pkcs8 = pem === undefined ? Uint8Array.of(...PKCS8_START, ...bytes.subarray(0, 32)) : bytes;
  return crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
}
