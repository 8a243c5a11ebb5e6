import {
  carrierRatesHz,
  dialTwiml,
  formBody,
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

/** Telnyx media streaming: negotiated encodings, snake case, media possibly out of order. */
export const telnyx: Carrier = {
  name: "telnyx",
  open(message, address) {
    const start = asMessage(message["start"]);
    const streamId = asId(message["stream_id"]);
    const callControlId = asId(start["call_control_id"]);
    if (!streamId || !callControlId) return undefined;
    const format = asMessage(start["media_format"]);
    const encoding = asText(format["encoding"]) ?? "PCMU";
    const customParameters = asMessage(start["custom_parameters"]);
    return {
      carrier: "telnyx",
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
      // What we send is fixed in the TeXML, which names it in the address if it is not the default.
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
      hangUp: (accounts) => hangUp(accounts, callControlId),
      transfer: (accounts, target) => transfer(accounts, callControlId, target),
      keys: {
        over: "rest",
        request: (accounts, keys) => action(accounts, callControlId, "send_dtmf", { digits: keys }),
      },
    };
  },
};

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
  return carrierRatesHz("telnyx", "L16").find((rate) => rate === sampleRateHz) ?? 8_000;
}

function hangUp(accounts: CarrierAccounts, callControlId: string): HangUp | undefined {
  const request = action(accounts, callControlId, "hangup", {});
  if (!request) return undefined;
  return { ...request, isAlreadyOver: (status, body) => status === 422 && body.includes("90018") };
}

/** Calls of a TeXML application get new instructions; that takes the account. Others are transferred by Call Control. */
function transfer(
  accounts: CarrierAccounts,
  callControlId: string,
  { to, callerId }: Transfer,
): CarrierRequest | undefined {
  const { telnyx: account, addresses } = accounts;
  if (!account?.accountSid)
    return action(accounts, callControlId, "transfer", { to, ...(callerId ? { from: callerId } : {}) });
  const path = `Accounts/${encodeURIComponent(account.accountSid)}/Calls/${encodeURIComponent(callControlId)}`;
  return {
    carrier: "telnyx",
    url: `${addresses.telnyx}/v2/texml/${path}`,
    method: "POST",
    headers: {
      authorization: `Bearer ${account.apiKey}`,
      "content-type": "application/x-www-form-urlencoded",
    },
    body: formBody({ Texml: dialTwiml(to, callerId) }),
  };
}

/** Something done with a call that is on. */
function action(
  { telnyx: account, addresses }: CarrierAccounts,
  callControlId: string,
  name: "hangup" | "transfer" | "send_dtmf",
  fields: Record<string, string>,
): CarrierRequest | undefined {
  if (!account) return undefined;
  return {
    carrier: "telnyx",
    url: `${addresses.telnyx}/v2/calls/${encodeURIComponent(callControlId)}/actions/${name}`,
    method: "POST",
    headers: { authorization: `Bearer ${account.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(fields),
  };
}
