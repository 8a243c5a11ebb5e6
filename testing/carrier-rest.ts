import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOnLoopback } from "./loopback-server.ts";

/** The carriers' REST interfaces on this machine: as strict as documented, and they remember what they were asked. */
export interface CarrierRest extends AsyncDisposable {
  /** Everything that was done, in words: `twilio calls +15550100200 from +15550100201`. */
  readonly done: string[];
  /** The requests of `done`, as they came. */
  readonly requests: { line: string; body: string; fields: Record<string, unknown> }[];
  /** Why requests were refused. */
  readonly refused: string[];
  /** Accounts at all four, and where this interface is. */
  readonly environment: Record<string, string>;
  /** Refuses the next request, in the carrier's words. */
  refuseNext(): void;
  /** Called before a request is answered. */
  beforeAnswer: () => void | Promise<void>;
}

interface Rule {
  carrier: string;
  method: string;
  path: RegExp;
  authorization: string;
  type: "form" | "json" | "none";
  required: string[];
  optional?: string[];
  /** Throws what is wrong beyond the names of the fields. */
  check?(fields: Record<string, unknown>): void;
  does(fields: Record<string, unknown>, call: string): string;
  answer: { status: number; body: object | undefined };
}

const SECRETS = {
  TWILIO_ACCOUNT_SID: "AC0123456789",
  TWILIO_AUTH_TOKEN: "twilio-secret-token",
  TELNYX_API_KEY: "KEY-telnyx-secret",
  TELNYX_ACCOUNT_SID: "telnyx-account",
  TELNYX_APPLICATION_ID: "1494404757140276705",
  PLIVO_AUTH_ID: "MA0123456789",
  PLIVO_AUTH_TOKEN: "plivo-secret-token",
  EXOTEL_ACCOUNT_SID: "exotel-account",
  EXOTEL_API_KEY: "exotel-api-key",
  EXOTEL_API_TOKEN: "exotel-secret-token",
};

/** Must appear in no log and no answer. */
export const carrierSecrets = /-secret/;

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
const TWILIO = basic(SECRETS.TWILIO_ACCOUNT_SID, SECRETS.TWILIO_AUTH_TOKEN);
const TELNYX = `Bearer ${SECRETS.TELNYX_API_KEY}`;
const PLIVO = basic(SECRETS.PLIVO_AUTH_ID, SECRETS.PLIVO_AUTH_TOKEN);
const EXOTEL = basic(SECRETS.EXOTEL_API_KEY, SECRETS.EXOTEL_API_TOKEN);
const NUMBER = /^(?:\+[1-9]\d{5,14}|sips?:[^@\s]+@\S+)$/;

const RULES: Rule[] = [
  {
    carrier: "twilio",
    method: "POST",
    path: /^\/2010-04-01\/Accounts\/AC0123456789\/Calls\.json$/,
    authorization: TWILIO,
    type: "form",
    required: ["To", "From"],
    optional: ["Twiml", "Url", "Method", "MachineDetection", "Timeout"],
    check(fields) {
      requireNumber(fields["To"]);
      requireNumber(fields["From"]);
      if ((fields["Twiml"] === undefined) === (fields["Url"] === undefined)) throw new Error("Url or Twiml");
      if (fields["Url"] !== undefined) requireUrl(fields["Url"], /^https?:/);
      if (fields["MachineDetection"] !== undefined && fields["Url"] === undefined)
        throw new Error("MachineDetection tells the Url, which is missing");
    },
    does: ({ To, From }) => `twilio calls ${String(To)} from ${String(From)}`,
    answer: { status: 201, body: { sid: "CA0001", status: "queued" } },
  },
  {
    carrier: "twilio",
    method: "POST",
    path: /^\/2010-04-01\/Accounts\/AC0123456789\/Calls\/([\w%]+)\.json$/,
    authorization: TWILIO,
    type: "form",
    required: [],
    optional: ["Status", "Twiml"],
    check({ Status, Twiml }) {
      if ((Status === undefined) === (Twiml === undefined)) throw new Error("Status or Twiml");
      if (Status !== undefined && Status !== "completed") throw new Error("Status");
      if (typeof Twiml === "string" && !/<Dial[^>]*>.*<\/Dial>/.test(Twiml)) throw new Error("Twiml");
    },
    does: ({ Twiml }, call) =>
      typeof Twiml === "string" ? `twilio transfers ${call} to ${dialled(Twiml)}` : `twilio ends ${call}`,
    answer: { status: 200, body: { sid: "CA0001", status: "in-progress" } },
  },
  {
    carrier: "telnyx",
    method: "POST",
    path: /^\/v2\/texml\/Accounts\/telnyx-account\/Calls$/,
    authorization: TELNYX,
    type: "json",
    required: ["ApplicationSid", "To", "From", "Url", "UrlMethod"],
    optional: ["MachineDetection", "AsyncAmd", "StatusCallback", "StatusCallbackMethod", "Timeout"],
    check(fields) {
      requireNumber(fields["To"]);
      requireNumber(fields["From"]);
      requireUrl(fields["Url"], /^https?:/);
      if (fields["ApplicationSid"] !== SECRETS.TELNYX_APPLICATION_ID) throw new Error("ApplicationSid");
    },
    does: ({ To, From }) => `telnyx calls ${String(To)} from ${String(From)}`,
    answer: { status: 200, body: { from: "+1", to: "+2", status: "queued", call_sid: "v3:0001" } },
  },
  {
    carrier: "telnyx",
    method: "POST",
    path: /^\/v2\/texml\/Accounts\/telnyx-account\/Calls\/([\w%.-]+)$/,
    authorization: TELNYX,
    type: "form",
    required: ["Texml"],
    check({ Texml }) {
      if (typeof Texml !== "string" || !/<Dial[^>]*>.*<\/Dial>/.test(Texml)) throw new Error("Texml");
    },
    does: ({ Texml }, call) => `telnyx transfers ${call} to ${dialled(Texml as string)}`,
    answer: { status: 200, body: { sid: "v3:0001", status: "in-progress" } },
  },
  ...(["hangup", "transfer", "send_dtmf"] as const).map((action): Rule => ({
    carrier: "telnyx",
    method: "POST",
    path: new RegExp(`^/v2/calls/([\\w%.-]+)/actions/${action}$`),
    authorization: TELNYX,
    type: "json",
    required: { hangup: [], transfer: ["to"], send_dtmf: ["digits"] }[action],
    optional: { hangup: [], transfer: ["from"], send_dtmf: [] }[action],
    check(fields) {
      if (action === "transfer") requireNumber(fields["to"]);
      if (action === "send_dtmf" && !/^[0-9A-D*#wW]+$/.test(String(fields["digits"])))
        throw new Error("digits");
    },
    does: (fields, call) =>
      ({
        hangup: `telnyx ends ${call}`,
        transfer: `telnyx transfers ${call} to ${String(fields["to"])}`,
        send_dtmf: `telnyx presses ${String(fields["digits"])} in ${call}`,
      })[action],
    answer: { status: 200, body: { data: { result: "ok" } } },
  })),
  {
    carrier: "plivo",
    method: "POST",
    path: /^\/v1\/Account\/MA0123456789\/Call\/$/,
    authorization: PLIVO,
    type: "json",
    required: ["from", "to", "answer_url", "answer_method"],
    optional: ["machine_detection", "ring_timeout"],
    check(fields) {
      requireNumber(fields["to"]);
      requireUrl(fields["answer_url"], /^https?:/);
    },
    does: ({ to, from }) => `plivo calls ${String(to)} from ${String(from)}`,
    answer: { status: 201, body: { message: "call fired", request_uuid: "r-1", api_id: "a-1" } },
  },
  {
    carrier: "plivo",
    method: "POST",
    path: /^\/v1\/Account\/MA0123456789\/Call\/([\w%-]+)\/$/,
    authorization: PLIVO,
    type: "json",
    required: ["legs", "aleg_url", "aleg_method"],
    check({ legs, aleg_url }) {
      if (legs !== "aleg") throw new Error("legs");
      requireUrl(aleg_url, /^https?:/);
    },
    does: ({ aleg_url }, call) => `plivo transfers ${call} as ${String(aleg_url)} says`,
    answer: { status: 202, body: { message: "call transferred", call_uuids: ["c"], api_id: "a-1" } },
  },
  {
    carrier: "plivo",
    method: "DELETE",
    path: /^\/v1\/Account\/MA0123456789\/Call\/([\w%-]+)\/$/,
    authorization: PLIVO,
    type: "none",
    required: [],
    does: (_fields, call) => `plivo ends ${call}`,
    answer: { status: 204, body: undefined },
  },
  {
    carrier: "exotel",
    method: "POST",
    path: /^\/v1\/Accounts\/exotel-account\/Calls\/connect\.json$/,
    authorization: EXOTEL,
    type: "form",
    required: ["From", "CallerId", "StreamUrl", "StreamType"],
    optional: ["TimeOut"],
    check(fields) {
      requireNumber(fields["From"]);
      requireUrl(fields["StreamUrl"], /^wss?:/);
      if (String(fields["StreamUrl"]).length > 600)
        throw new Error("StreamUrl is longer than 600 characters");
      if (fields["StreamType"] !== "bidirectional") throw new Error("StreamType");
    },
    does: ({ From, CallerId }) => `exotel calls ${String(From)} from ${String(CallerId)}`,
    answer: { status: 200, body: { Call: { Sid: "ex0001", Status: "in-progress" } } },
  },
];

export async function startCarrierRest(): Promise<CarrierRest> {
  let refusesNext = false;
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const body = await textOf(request);
    const line = `${request.method} ${request.url}`;
    const outcome = judge(request, body);
    await rest.beforeAnswer();
    if (typeof outcome === "string" || refusesNext) {
      const why = typeof outcome === "string" ? outcome : "refused as told";
      refusesNext = false;
      rest.refused.push(`${line}: ${why}`);
      // Echoes what it was sent, as careless servers do.
      const told = { code: 21_211, message: why, echoed: request.headers.authorization };
      return response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(told));
    }
    const { rule, fields, call } = outcome;
    rest.done.push(rule.does(fields, call));
    rest.requests.push({ line, body, fields });
    const { status, body: answer } = rule.answer;
    return response.writeHead(status).end(answer && JSON.stringify(answer));
  }
  const server = createServer((request, response) => void serve(request, response));
  const listening = await listenOnLoopback(server);
  const { url } = listening;
  const rest: CarrierRest = {
    done: [],
    requests: [],
    refused: [],
    refuseNext: () => (refusesNext = true),
    beforeAnswer: () => undefined,
    environment: {
      ...SECRETS,
      TWILIO_API_URL: url,
      TELNYX_API_URL: url,
      PLIVO_API_URL: url,
      EXOTEL_API_URL: url,
    },
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
  return rest;
}

/** Returns the effect of a request, or why it is refused. */
function judge(
  request: IncomingMessage,
  body: string,
): { rule: Rule; fields: Record<string, unknown>; call: string } | string {
  const { method, url = "", headers } = request;
  const rule = RULES.find((each) => each.method === method && each.path.test(url));
  if (!rule) return "no such resource";
  if (headers.authorization !== rule.authorization) return "unauthorized";
  try {
    const fields = fieldsOf(rule, headers["content-type"], body);
    for (const name of rule.required) if (fields[name] === undefined) throw new Error(`${name} is missing`);
    const known = [...rule.required, ...(rule.optional ?? [])];
    for (const name of Object.keys(fields)) if (!known.includes(name)) throw new Error(`${name} is unknown`);
    rule.check?.(fields);
    return { rule, fields, call: decodeURIComponent(rule.path.exec(url)?.[1] ?? "") };
  } catch (error) {
    return (error as Error).message;
  }
}

function fieldsOf(rule: Rule, type: string | undefined, body: string): Record<string, unknown> {
  switch (rule.type) {
    case "form":
      if (type !== "application/x-www-form-urlencoded") throw new Error(`content type ${type}`);
      return Object.fromEntries(new URLSearchParams(body));
    case "json":
      if (type !== "application/json") throw new Error(`content type ${type}`);
      return JSON.parse(body) as Record<string, unknown>;
    case "none":
      if (body !== "") throw new Error("a body");
      return {};
    default:
      return rule.type satisfies never;
  }
}

function requireNumber(value: unknown): void {
  if (typeof value !== "string" || !NUMBER.test(value)) throw new Error(`no number: ${String(value)}`);
}

function requireUrl(value: unknown, scheme: RegExp): void {
  if (typeof value !== "string" || !URL.canParse(value) || !scheme.test(value))
    throw new Error(`no address: ${String(value)}`);
}

function dialled(twiml: string): string {
  return twiml.replace(/^[^]*<Dial[^>]*>/, "").replace(/<[^>]+>|\s/g, "");
}

async function textOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk as string;
  return body;
}
