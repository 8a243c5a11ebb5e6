import {
  basicAuthorization,
  dialTwiml,
  formBody,
  type CarrierAccounts,
  type CarrierRequest,
} from "@vocalhost/protocol";
import {
  answeredBy,
  asId,
  asMessage,
  asText,
  readCommonEvent,
  type Carrier,
  type CarrierStream,
  type HangUp,
} from "./carrier.ts";

/** Twilio Media Streams: mu-law at 8 kHz, identifiers in camel case. */
export const twilio: Carrier = {
  name: "twilio",
  open(message) {
    const start = asMessage(message["start"]);
    const streamSid = asId(start["streamSid"]);
    const callSid = asId(start["callSid"]);
    if (message["event"] !== "start" || !streamSid || !callSid) return undefined;
    const accountSid = asText(start["accountSid"]);
    const parameters = asMessage(start["customParameters"]);
    const stream: CarrierStream = {
      carrier: "twilio",
      callData: {
        streamId: streamSid,
        callId: callSid,
        from: asText(parameters["from_number"]) ?? null,
        to: asText(parameters["to_number"]) ?? null,
        body: parameters,
        ...(accountSid ? { accountSid } : {}),
        ...answeredBy(parameters["answered_by"]),
      },
      receives: { encoding: "mulaw", sampleRateHz: 8_000 },
      sends: { encoding: "mulaw", sampleRateHz: 8_000 },
      chunkMs: 40,
      acknowledgesMarks: accountSid !== undefined, // browser emulations send no account and know no marks
      read: readCommonEvent,
      media: (payload) => JSON.stringify({ event: "media", streamSid, media: { payload } }),
      mark: (name) => JSON.stringify({ event: "mark", streamSid, mark: { name } }),
      clear: () => JSON.stringify({ event: "clear", streamSid }),
      hangUp: (accounts) => hangUp(accounts, callSid),
      transfer: (accounts, { to, callerId }) => update(accounts, callSid, { Twiml: dialTwiml(to, callerId) }),
      keys: undefined, // its streams have no message for keys
    };
    return stream;
  },
};

function hangUp(accounts: CarrierAccounts, callSid: string): HangUp | undefined {
  const request = update(accounts, callSid, { Status: "completed" });
  if (!request) return undefined;
  return { ...request, isAlreadyOver: (status, body) => status === 404 && body.includes("20404") };
}

/** Tells a call that is on what to do next. */
function update(
  { twilio: account, addresses }: CarrierAccounts,
  callSid: string,
  fields: Record<string, string>,
): CarrierRequest | undefined {
  if (!account) return undefined;
  const { accountSid, authToken } = account;
  return {
    carrier: "twilio",
    url: `${addresses.twilio}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Calls/${encodeURIComponent(callSid)}.json`,
    method: "POST",
    headers: {
      authorization: basicAuthorization(accountSid, authToken),
      "content-type": "application/x-www-form-urlencoded",
    },
    body: formBody(fields),
  };
}
