import {
  answeredByField,
  basicAuthorization,
  formBody,
  type Carrier,
  type Rest,
  type RestRequest,
  type Signature,
  type StreamAnswer,
} from "./carrier.ts";
import { answeredBy, asId, asMessage, asText, readCommonEvent } from "./message.ts";
import { equalTexts, header, hmac, isForm, rootForms, sha256Hex, type SignedRequest } from "./signing.ts";
import { connectStream, dialXml } from "./xml.ts";

type Account = { accountSid: string; authToken: string };

const SIGNATURE = "x-twilio-signature";

/** HMAC-SHA1 over the address and the sorted form fields. */
const signature: Signature = {
  header: SIGNATURE,
  variable: "TWILIO_AUTH_TOKEN",
  signsUpgrades: true,
  async verify(request, authToken) {
    const given = header(request, SIGNATURE);
    if (!given || !(await bodyHashFits(request))) return false;
    const fields = isForm(request) ? sortedFields(request.rawBody) : "";
    const expected = await Promise.all(
      addressForms(request.url).map((url) => hmac("SHA-1", authToken, url + fields)),
    );
    return expected.some((one) => equalTexts(given, one));
  },
  async sign({ url, form }, authToken) {
    return { [SIGNATURE]: await hmac("SHA-1", authToken, url + sortedFields(form)) };
  },
};

/** Twilio Media Streams: mu-law at 8 kHz, identifiers in camel case. */
export const twilio: Carrier<Account> = {
  title: "Twilio",
  encodings: [{ codec: "mulaw", ratesHz: [8_000] }],
  hint: "µ-law, every 20 ms",
  account: {
    parts: { accountSid: "TWILIO_ACCOUNT_SID", authToken: "TWILIO_AUTH_TOKEN" },
    id: "TWILIO_ACCOUNT_SID",
    address: ({ TWILIO_EDGE, TWILIO_REGION }) =>
      TWILIO_EDGE && TWILIO_REGION
        ? `https://api.${TWILIO_EDGE}.${TWILIO_REGION}.twilio.com`
        : "https://api.twilio.com",
  },
  signature,
  open(message) {
    const start = asMessage(message["start"]);
    const streamSid = asId(start["streamSid"]);
    const callSid = asId(start["callSid"]);
    if (message["event"] !== "start" || !streamSid || !callSid) return undefined;
    const accountSid = asText(start["accountSid"]);
    const parameters = asMessage(start["customParameters"]);
    return {
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
    };
  },
  dial(rest, { to, from, streamUrl, answerUrl, machineDetection, ringSecs }) {
    return calls(rest, "", {
      To: to,
      From: from,
      // The webhook is requested again when the call is answered, and then knows who answered.
      ...(machineDetection
        ? { Url: answerUrl, Method: "POST", MachineDetection: "Enable" }
        : { Twiml: streamXml({ url: streamUrl, from, to }) }),
      Timeout: ringSecs?.toString(),
    });
  },
  callIdIn: ({ sid }) => sid,
  detectsMachines: true,
  hangUp: (rest, callSid) => ({
    ...calls(rest, callSid, { Status: "completed" }),
    isAlreadyOver: (status, body) => status === 404 && body.includes("20404"),
  }),
  transfer: {
    request: (rest, callSid, { to, callerId }) =>
      calls(rest, callSid, { Twiml: dialXml(to, callerId, "Sip") }),
  },
  webhookFields: ({ callId, accountId, from, to }) => ({
    ...{ CallSid: callId, AccountSid: accountId, From: from, To: to },
    ...{ CallStatus: "ringing", Direction: "inbound", ApiVersion: "2010-04-01" },
  }),
  asks: (fields) => fields.has("AccountSid") && fields.has("CallSid"),
  answerXml: streamXml,
  answererIn: answeredByField,
  passedOn: ({ from, to }, more) => ({ from_number: from, to_number: to, ...more }),
};

function streamXml({ url, from, to, answeredBy: answerer }: StreamAnswer): string {
  return connectStream({ url }, { from_number: from, to_number: to, answered_by: answerer });
}

/** Places a call, or tells one that is on what to do next. */
function calls(
  { account: { accountSid, authToken }, address }: Rest<Account>,
  callSid: string,
  fields: Record<string, string | undefined>,
): RestRequest {
  const call = callSid && `/${encodeURIComponent(callSid)}`;
  return {
    url: `${address}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Calls${call}.json`,
    method: "POST",
    headers: {
      authorization: basicAuthorization(accountSid, authToken),
      "content-type": "application/x-www-form-urlencoded",
    },
    body: formBody(fields),
  };
}

function sortedFields(form: string): string {
  const fields = new Map<string, Set<string>>();
  for (const [name, value] of new URLSearchParams(form))
    fields.set(name, (fields.get(name) ?? new Set()).add(value));
  return [...fields.keys()]
    .sort()
    .map((name) =>
      [...fields.get(name)!]
        .sort()
        .map((value) => name + value)
        .join(""),
    )
    .join("");
}

// Twilio signs the address as it was set or as it was escaped on the way, with or without its port.
function addressForms(url: string): string[] {
  const parsed = new URL(url);
  const { protocol, hostname, port } = parsed;
  const secure = protocol === "https:" || protocol === "wss:";
  const forms = [url, parsed.href].flatMap((form) => {
    const afterScheme = form.slice(protocol.length + 2);
    const rest = afterScheme.slice(afterScheme.search(/[/?]|$/));
    const defaultPort = secure ? 443 : 80;
    return [
      form,
      `${protocol}//${hostname}${rest}`,
      `${protocol}//${hostname}:${port || defaultPort}${rest}`,
    ];
  });
  const all = protocol.startsWith("ws") ? forms.flatMap(socketForms) : forms.flatMap(rootForms);
  return [...new Set(all)];
}

// An upgrade's may end in a slash, and is wss also where a proxy in front of us has taken the TLS off.
function socketForms(form: string): string[] {
  const secure = form.replace(/^ws:/, "wss:");
  return [form, `${form}/`, secure, `${secure}/`];
}

async function bodyHashFits(request: SignedRequest): Promise<boolean> {
  const expected = new URL(request.url).searchParams.get("bodySHA256");
  return expected === null || equalTexts(await sha256Hex(request.rawBody), expected.toLowerCase());
}
