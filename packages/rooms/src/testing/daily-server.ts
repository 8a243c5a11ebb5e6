import { jwtVerify, SignJWT } from "jose";
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOnLoopback } from "../../../../testing/loopback-server.ts";

/** As much of Daily's REST interface as rooms need, and no more lenient than Daily is. */
export interface DailyServer extends AsyncDisposable {
  /** For DAILY_API_URL. */
  readonly url: string;
  readonly apiKey: string;
  readonly requests: DailyRequest[];
  readonly rooms: ReadonlyMap<string, DailyRoom>;
  /** The next requests are answered so, whatever they ask. */
  refuseNext(times: number, answer: Refusal): void;
  /** From now on calls can be forwarded to this room; gives its SIP address. */
  setReady(roomName: string): string;
  /** The same, and tells a webhook of it as Daily does; gives what that answered. */
  tellReady(url: string, roomName: string, secret: string): Promise<Response>;
}

export interface DailyRequest {
  method: string;
  path: string;
  body: Record<string, unknown>;
}

export interface DailyRoom {
  name: string;
  url: string;
  privacy: string;
  config: Record<string, unknown>;
}

interface Refusal {
  status: number;
  error: string;
  info?: string;
  retryAfter?: string;
}

const BOOLEANS = [
  ...[
    "eject_at_room_exp",
    "enable_chat",
    "enable_prejoin_ui",
    "enable_emoji_reactions",
    "enable_screenshare",
  ],
  ...[
    "enable_knocking",
    "start_video_off",
    "start_audio_off",
    "enable_transcription_storage",
    "enable_dialout",
  ],
];
const ROOM_PROPERTIES = [
  ...BOOLEANS,
  ...["exp", "nbf", "eject_after_elapsed", "max_participants", "enable_recording", "recordings_bucket"],
  ...["transcription_bucket", "geo", "sip"],
];
const TOKEN_PROPERTIES = [
  ...["room_name", "exp", "nbf", "is_owner", "user_name", "user_id", "eject_at_token_exp", "permissions"],
  ...["eject_after_elapsed", "enable_screenshare", "start_video_off", "start_audio_off", "enable_recording"],
  ...["enable_prejoin_ui", "start_cloud_recording"],
];

export async function startDailyServer(): Promise<DailyServer> {
  const apiKey = randomBytes(32).toString("hex");
  const requests: DailyRequest[] = [];
  const rooms = new Map<string, DailyRoom>();
  const refusals: Refusal[] = [];
  const readyUris = new Set<string>();
  const secret = new TextEncoder().encode(apiKey);

  async function answer(method: string, path: string, text: string): Promise<object> {
    const body = parseBody(text);
    requests.push({ method, path, body });
    const room = /^\/rooms\/([^/]+)$/.exec(path)?.[1];
    if (method === "POST" && path === "/rooms") return createRoom(body);
    if (room !== undefined && method === "GET") return roomOf(room);
    if (room !== undefined && method === "DELETE") {
      const { name } = roomOf(room);
      rooms.delete(name);
      return { deleted: true, name };
    }
    if (method === "POST" && path === "/meeting-tokens") return createToken(body);
    const token = /^\/meeting-tokens\/([^/]+)$/.exec(path)?.[1];
    if (token !== undefined && method === "GET") return validate(token);
    if (method === "POST" && path === "/dialin/pinlessCallUpdate") {
      for (const field of ["callId", "callDomain", "sipUri"]) requireText(body, field);
      if (!textOf(body["sipUri"])?.startsWith("sip:")) throw invalid("sipUri must begin with sip:");
      if (!readyUris.has(textOf(body["sipUri"]) ?? "")) throw invalid("the SIP address is not registered");
      return { ok: "true" };
    }
    throw refusal(404, "not-found");
  }

  function createRoom(body: Record<string, unknown>): DailyRoom {
    onlyKeys(body, ["name", "privacy", "properties"]);
    const name = textOf(body["name"]) ?? randomBytes(8).toString("hex");
    if (!/^[\w-]{1,128}$/.test(name)) throw invalid("name has characters that are not allowed");
    if (rooms.has(name)) throw invalid(`a room named ${name} already exists`);
    const privacy = textOf(body["privacy"]) ?? "public";
    if (!["public", "private"].includes(privacy)) throw invalid("privacy must be public or private");
    const properties = (body["properties"] ?? {}) as Record<string, unknown>;
    onlyKeys(properties, ROOM_PROPERTIES);
    for (const key of BOOLEANS)
      if (key in properties && typeof properties[key] !== "boolean")
        throw invalid(`${key} must be a boolean`);
    requireMoment(properties["exp"]);
    const sip = properties["sip"] as Record<string, unknown> | undefined;
    if (sip) onlyKeys(sip, ["display_name", "video", "sip_mode", "num_endpoints", "codecs", "provider"]);
    const config = {
      ...properties,
      ...(sip ? { sip_uri: { endpoint: `${randomUUID()}@example.sip.daily.co` } } : {}),
    };
    const room = { name, url: `https://example.daily.co/${name}`, privacy, config };
    rooms.set(name, room);
    return {
      id: randomUUID(),
      api_created: true,
      created_at: new Date().toISOString(),
      ...room,
    } as DailyRoom;
  }

  function roomOf(name: string): DailyRoom {
    const room = rooms.get(decodeURIComponent(name));
    if (!room) throw refusal(404, "not-found", `room ${name} not found`);
    return room;
  }

  function setReady(name: string): string {
    const { endpoint } = roomOf(name).config["sip_uri"] as { endpoint: string };
    const sipUri = `sip:${endpoint}`;
    readyUris.add(sipUri);
    return sipUri;
  }

  async function createToken(body: Record<string, unknown>): Promise<object> {
    onlyKeys(body, ["properties"]);
    const properties = (body["properties"] ?? {}) as Record<string, unknown>;
    onlyKeys(properties, TOKEN_PROPERTIES);
    requireMoment(properties["exp"]);
    if ((textOf(properties["user_id"]) ?? "").length > 36) throw invalid("user_id is too long");
    const { room_name: r, is_owner: o, user_name: u, exp } = properties;
    const token = new SignJWT({ r, o, u, d: "example" })
      .setProtectedHeader({ alg: "HS256" })
      .setIssuedAt()
      .setExpirationTime(Number(exp));
    return { token: await token.sign(secret) };
  }

  async function validate(token: string): Promise<object> {
    try {
      const { payload } = await jwtVerify(token, secret);
      return { room_name: payload["r"], is_owner: payload["o"], user_name: payload["u"], exp: payload.exp };
    } catch {
      throw invalid("token is not valid");
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "/", headers } = request;
    let text = "";
    for await (const chunk of request) text += String(chunk);
    try {
      const said = refusals.shift();
      if (said) throw said;
      if (!headers.authorization?.startsWith("Bearer ")) throw refusal(400, "authorization-header-error");
      if (headers.authorization !== `Bearer ${apiKey}`)
        throw refusal(401, "authentication-error", `the key ${headers.authorization.slice(7)} is not known`);
      const answered = await answer(method, url.replace(/^\/v1/, ""), text);
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answered));
    } catch (error) {
      if (error instanceof Error) throw error;
      const { status, retryAfter, ...body } = error as Refusal;
      response.writeHead(status, {
        "content-type": "application/json",
        ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }),
      });
      response.end(JSON.stringify(body));
    }
  }

  const server = createServer((request, response) => void handle(request, response));
  const listening = await listenOnLoopback(server);
  return {
    url: `${listening.url}/v1`,
    apiKey,
    requests,
    rooms,
    refuseNext: (times, said) => refusals.push(...Array.from({ length: times }, () => said)),
    setReady,
    async tellReady(url, room, webhookSecret) {
      const nowS = Math.floor(Date.now() / 1000);
      const payload = {
        ...{ domain_id: randomUUID(), room, timestamp: String(nowS) },
        sip_endpoint: setReady(room),
      };
      const id = `0000-dial-in-ready-${nowS}`;
      const event = JSON.stringify({ version: "1.0.0", type: "dialin.ready", id, payload, event_ts: nowS });
      const hmac = createHmac("sha256", Buffer.from(webhookSecret, "base64")).update(`${nowS}.${event}`);
      const headers = {
        "content-type": "application/json",
        "x-webhook-timestamp": String(nowS),
        "x-webhook-signature": hmac.digest("base64"),
      };
      return fetch(url, { method: "POST", headers, body: event });
    },
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}

function parseBody(text: string): Record<string, unknown> {
  if (text === "") return {};
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw refusal(400, "json-parsing-error");
  }
}

function onlyKeys(values: Record<string, unknown>, known: string[]): void {
  for (const key of Object.keys(values)) if (!known.includes(key)) throw invalid(`unknown parameter ${key}`);
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw invalid("a text was expected");
}

function requireText(values: Record<string, unknown>, key: string): void {
  if (typeof values[key] !== "string" || values[key] === "") throw invalid(`missing parameter ${key}`);
}

function requireMoment(value: unknown): void {
  if (value === undefined) return;
  if (!Number.isInteger(value) || Number(value) > 100_000_000_000) throw invalid("exp must be Unix seconds");
}

function invalid(info: string): Refusal {
  return refusal(400, "invalid-request-error", info);
}

function refusal(status: number, error: string, info?: string): Refusal {
  return { status, error, ...(info === undefined ? {} : { info }) };
}
