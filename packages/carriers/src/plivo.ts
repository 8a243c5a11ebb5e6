import {
  basicAuthorization,
  CarrierError,
  type Carrier,
  type CarrierEvent,
  type CarrierMessage,
  type RequestToSign,
  type Rest,
  type Signature,
  type WireFormat,
} from "./carrier.ts";
import { answeredBy, asId, asMessage, asNumber, asText, readCommonEvent } from "./message.ts";
import { equalTexts, header, hmac, isForm, rootForms } from "./signing.ts";
import { dialXml, escapeXml, response, written } from "./xml.ts";

type Account = { authId: string; authToken: string };

const SIGNATURE = "x-plivo-signature-v3";
const NONCE = "x-plivo-signature-v3-nonce";

/** Version 3: HMAC-SHA256 over the address, the sorted fields and a nonce. */
const signature: Signature = {
  header: SIGNATURE,
  variable: "PLIVO_AUTH_TOKEN",
  async verify(request, authToken) {
    const given = header(request, SIGNATURE)?.split(",") ?? [];
    const nonce = header(request, NONCE);
    if (!nonce) return false;
    const form = isForm(request) ? request.rawBody : "";
    const expected = await Promise.all(
      rootForms(request.url).map((url) => signPlivo({ method: request.method, url, form }, nonce, authToken)),
    );
    return given.some((each) => expected.some((one) => equalTexts(each.trim(), one)));
  },
  async sign(request, authToken) {
    const [random = 0n] = crypto.getRandomValues(new BigUint64Array(1));
    const nonce = random.toString();
    return { [SIGNATURE]: await signPlivo(request, nonce, authToken), [NONCE]: nonce };
  },
};

/** Plivo audio streams: no greeting before `start`, play-out is told by checkpoints. */
export const plivo: Carrier<Account> = {
  title: "Plivo",
  encodings: [
    { codec: "mulaw", ratesHz: [8_000] },
    { codec: "L16", ratesHz: [8_000, 16_000] },
  ],
  hint: "µ-law, checkpoints",
  account: {
    parts: { authId: "PLIVO_AUTH_ID", authToken: "PLIVO_AUTH_TOKEN" },
    id: "PLIVO_AUTH_ID",
    address: () => "https://api.plivo.com",
  },
  signature,
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
    };
  },
  dial(rest, { to, from, answerUrl, machineDetection, ringSecs }) {
    return {
      url: callUrl(rest),
      method: "POST",
      headers: { ...authorization(rest), "content-type": "application/json" },
      body: JSON.stringify({
        from,
        to,
        answer_url: answerUrl,
        answer_method: "POST",
        ...(machineDetection ? { machine_detection: "true" } : {}),
        ...(ringSecs === undefined ? {} : { ring_timeout: ringSecs }),
      }),
    };
  },
  callIdIn: () => undefined, // its request_uuid names the request, not the call
  detectsMachines: true,
  hangUp: (rest, callId) => ({
    url: callUrl(rest, callId),
    method: "DELETE",
    headers: authorization(rest),
    isAlreadyOver: (status) => status === 404,
  }),
  transfer: {
    // It takes no instructions in the request, and fetches them.
    request(rest, callId, { to, callerId, callbackUrl }) {
      const query = new URLSearchParams({ to, ...(callerId ? { callerId } : {}) });
      return {
        url: callUrl(rest, callId),
        method: "POST",
        headers: { ...authorization(rest), "content-type": "application/json" },
        body: JSON.stringify({
          legs: "aleg",
          aleg_url: `${callbackUrl}/calls/transfer?${query.toString()}`,
          aleg_method: "POST",
        }),
      };
    },
  },
  transferXml: (to, callerId) => dialXml(to, callerId, "User"),
  keys: { over: "socket", message: (keys) => JSON.stringify({ event: "sendDTMF", dtmf: keys }) },
  webhookFields: ({ callId, from, to }) => ({
    ...{ CallUUID: callId, From: from, To: to },
    ...{ Direction: "inbound", CallStatus: "ringing", Event: "StartApp" },
  }),
  asks: (fields) => fields.has("CallUUID"),
  answerXml({ url, from, to, answeredBy: answerer }) {
    const extraHeaders = Object.entries({ from, to, answeredBy: answerer }).flatMap(([name, value]) => {
      const plain = lettersAndDigits(value ?? "").slice(0, 64);
      return plain ? [`${name}=${plain}`] : [];
    });
    const attributes = {
      bidirectional: "true",
      keepCallAlive: "true",
      contentType: "audio/x-mulaw;rate=8000",
      ...(extraHeaders.length > 0 ? { extraHeaders: extraHeaders.join(",") } : {}),
    };
    return response([`<Stream${written(attributes)}>${escapeXml(url)}</Stream>`]);
  },
  answererIn(fields) {
    const machine = fields.get("Machine");
    if (machine === null) return undefined;
    return machine === "true" ? "machine" : "human";
  },
  passedOn: ({ from, to }) => ({ from: lettersAndDigits(from), to: lettersAndDigits(to) }),
};

// Its extra headers may hold nothing else.
function lettersAndDigits(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]/g, "");
}

function readEvent(message: CarrierMessage): CarrierEvent | undefined {
  if (message["event"] !== "playedStream") return readCommonEvent(message);
  const name = asText(message["name"]);
  return name ? { type: "mark", name } : undefined;
}

function wireFormat(contentType: string, sampleRateHz: number | undefined): WireFormat {
  const [kind, rate] = contentType.split(";rate=");
  const wireRate = sampleRateHz ?? asNumber(rate) ?? 8_000;
  if (kind === "audio/x-mulaw") return { encoding: "mulaw", sampleRateHz: 8_000 };
  if (
    kind === "audio/x-l16" &&
    plivo.encodings.some(({ codec, ratesHz }) => codec === "L16" && ratesHz.includes(wireRate))
  )
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

function callUrl({ account, address }: Rest<Account>, callId?: string): string {
  const call = callId === undefined ? "" : `${encodeURIComponent(callId)}/`;
  return `${address}/v1/Account/${encodeURIComponent(account.authId)}/Call/${call}`;
}

function authorization({ account }: Rest<Account>): { authorization: string } {
  return { authorization: basicAuthorization(account.authId, account.authToken) };
}

export function signPlivo(request: RequestToSign, nonce: string, authToken: string): Promise<string> {
  return hmac("SHA-256", authToken, `${signedText(request)}.${nonce}`);
}

function signedText({ method, url, form }: RequestToSign): string {
  const [base, query] = splitQuery(url);
  const fields = [...new URLSearchParams(form)];
  if (method === "GET") {
    const pairs = sortedPairs([...new URLSearchParams(query), ...fields]).map(
      ([name, value]) => `${name}=${value}`,
    );
    return pairs.length > 0 ? `${base}?${pairs.join("&")}` : base;
  }
  const queryText = sortedPairs([...new URLSearchParams(query)])
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  const fieldText = sortedPairs(fields)
    .map(([name, value]) => name + value)
    .join("");
  if (!queryText && fields.length === 0) return base;
  return `${base}?${queryText}${queryText && fields.length > 0 ? "." : ""}${fieldText}`;
}

function splitQuery(url: string): [string, string] {
  const at = url.indexOf("?");
  return at < 0 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}

function sortedPairs(pairs: [string, string][]): [string, string][] {
  return pairs.sort(([leftName, leftValue], [rightName, rightValue]) => {
    if (leftName !== rightName) return leftName < rightName ? -1 : 1;
    if (leftValue === rightValue) return 0;
    return leftValue < rightValue ? -1 : 1;
  });
}
