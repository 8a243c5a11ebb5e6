import { AppError, type RoomCallData } from "@vocalhost/protocol";
import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { ProvidersConfig } from "./config.ts";
import type { LiveKitConfig } from "./livekit.ts";
import type { RoomProviders } from "./room-providers.ts";
import { makeSessionRoom, type SessionRoom } from "./session-room.ts";

/** A phone call that a provider has told of. */
export interface IncomingCall {
  callId: string;
  /** The call as the bot gets it. */
  body: object;
  callData: RoomCallData;
  /** The room the call is in, or one that it can be sent to. */
  openRoom(wanted: { prefix: string; people?: string; mark?: string }): Promise<CallRoom>;
}

export interface CallRoom extends SessionRoom {
  /** Connects a caller who is on hold; undefined for one who is in the room already. */
  forwardCall: ForwardCall | undefined;
}

/** Sends a caller on hold to this SIP address. @default the one the room was made with */
export type ForwardCall = (sipUri?: string) => Promise<void>;

/** A room whose SIP address takes calls now. */
export interface ReadyRoom {
  roomName: string;
  sipUri: string;
}

/** A webhook's request. */
export interface ToldCall {
  rawBody: string;
  headers: Record<string, string | string[] | undefined>;
  nowMs: number;
  /** Whether Daily's webhook may do without a signature when there is no secret to check it with. */
  mayBeUnsigned: boolean;
}

const DailyCall = z.object({
  From: z.string(),
  To: z.string(),
  callId: z.string().min(1).max(200),
  callDomain: z.string().min(1).max(200),
  sipHeaders: z.record(z.string(), z.unknown()).nullish(),
});

const DailyReady = z.object({
  type: z.literal("dialin.ready"),
  payload: z.object({ room: z.string().min(1), sip_endpoint: z.string().min(1) }),
});

/** Daily's event `dialin.ready`; undefined for everything else that comes to its webhooks. */
export function readDailyReady(config: ProvidersConfig, told: ToldCall): ReadyRoom | undefined {
  const event = DailyReady.safeParse(parseJson(told.rawBody)).data;
  if (!event) return undefined;
  requireDailySignature(config, told, "event");
  const { room: roomName, sip_endpoint } = event.payload;
  return { roomName, sipUri: `sip:${sip_endpoint.replace(/^sip:/, "")}` };
}

/** Daily's webhook; undefined for its test delivery. Throws what the provider is told. */
export function readDailyCall(
  providers: RoomProviders,
  config: ProvidersConfig,
  told: ToldCall,
): IncomingCall | undefined {
  const parsed = parseJson(told.rawBody);
  if (parsed === undefined) throw new AppError("MALFORMED_JSON", { message: "Invalid JSON payload" });
  if (parsed["Test"] || parsed["test"]) return undefined; // sent before the secret can be known here
  requireDailySignature(config, told, "call");
  const call = DailyCall.safeParse(parsed).data;
  if (!call)
    throw new AppError("INVALID_REQUEST", {
      message: "Missing required fields: From, To, callId, callDomain",
    });
  const { From, To, callId, callDomain, sipHeaders = null } = call;
  return {
    callId,
    body: {
      dialin_settings: { call_id: callId, call_domain: callDomain, To, From, sip_headers: sipHeaders },
    },
    callData: { streamId: callDomain, callId, from: From, to: To, body: sipHeaders ?? {} },
    async openRoom(wanted) {
      const room = await makeSessionRoom(providers, {
        ...wanted,
        requested: "daily",
        sip: { displayName: From },
      });
      const { sipUri } = room;
      if (sipUri === undefined) return { ...room, forwardCall: undefined };
      return {
        ...room,
        forwardCall: async (to = sipUri) => providers.daily?.forwardCall({ callId, callDomain, sipUri: to }),
      };
    },
  };
}

/** A LiveKit server's webhook; undefined for everything that is no phone call coming in. */
export async function readLiveKitCall(
  providers: RoomProviders,
  { livekit }: ProvidersConfig,
  { rawBody, headers }: ToldCall,
): Promise<IncomingCall | undefined> {
  if (!livekit)
    throw new AppError("TRANSPORT_DISABLED", {
      message:
        "Calls from LiveKit need a LiveKit server: set LIVEKIT_URL, LIVEKIT_API_KEY, LIVEKIT_API_SECRET",
    });
  const authorization = textOf(headers["authorization"]);
  const call = await readSipCall(livekit, { rawBody, authorization }).catch((cause: unknown) => {
    throw new AppError("SIGNATURE_INVALID", { cause });
  });
  if (!call) return undefined;
  const { callId, from, to, identity, attributes, roomName } = call;
  return {
    callId,
    body: { dialin_settings: { call_id: callId, To: to, From: from, sip_headers: null } },
    callData: { streamId: identity, callId, from, to, body: attributes },
    async openRoom({ people = callId.slice(-8) }) {
      const provider = providers.of("livekit");
      const botToken = await provider.issueToken({ room: roomName, identity: `Bot-${people}`, isBot: true });
      return {
        provider: "livekit",
        roomName,
        roomUrl: livekit.url,
        botRoomUrl: livekit.url,
        botToken,
        clientToken: "", // the caller is there
        guestTokens: [],
        sipUri: undefined,
        sipTrunk: provider.sipTrunk,
        isGuest: false,
        forwardCall: undefined,
        close: () => provider.deleteRoom(roomName),
      };
    },
  };
}

const SIGNED = {
  call: { variable: "DAILY_DIALIN_HMAC", headers: "x-pinless" },
  event: { variable: "DAILY_WEBHOOK_HMAC", headers: "x-webhook" },
};

function requireDailySignature({ daily }: ProvidersConfig, told: ToldCall, what: keyof typeof SIGNED): void {
  const { variable, headers } = SIGNED[what];
  const secret = what === "call" ? daily?.dialInSecret : daily?.eventSecret;
  if (!daily || (secret === undefined && !told.mayBeUnsigned))
    throw new AppError("TRANSPORT_DISABLED", {
      message: `Calls from Daily need an account there: set DAILY_API_KEY${daily ? ` and ${variable}` : ""}`,
    });
  if (secret === undefined) return;
  const signed = {
    rawBody: told.rawBody,
    timestamp: textOf(told.headers[`${headers}-timestamp`]),
    signature: textOf(told.headers[`${headers}-signature`]),
    nowMs: told.nowMs,
  };
  if (!isSignedByDaily(signed, secret)) throw new AppError("SIGNATURE_INVALID");
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export interface DailySigned {
  rawBody: string;
  /** `X-Pinless-Timestamp`, of events `X-Webhook-Timestamp` */
  timestamp: string | undefined;
  /** `X-Pinless-Signature`, of events `X-Webhook-Signature` */
  signature: string | undefined;
  nowMs: number;
}

const TOLERANCE_S = 300;

/** Checks a webhook of Daily: HMAC-SHA256 over the time and the raw body, with a base64 secret. */
export function isSignedByDaily(request: DailySigned, secret: string): boolean {
  const { rawBody, timestamp = "", signature = "", nowMs } = request;
  const age = Math.abs(nowMs / 1000 - Number(timestamp));
  if (!/^\d{1,12}$/.test(timestamp) || age > TOLERANCE_S) return false;
  const expected = createHmac("sha256", Buffer.from(secret, "base64"))
    .update(`${timestamp}.${rawBody}`)
    .digest("base64");
  const [left, right] = [Buffer.from(signature), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A value of LiveKit's ParticipantInfo.Kind, which its server SDK does not export. */
const SIP_KINDS: number[] = [3];

/** A phone call that has come into a room of a LiveKit server. */
interface SipCall {
  roomName: string;
  identity: string;
  callId: string;
  from: string | null;
  to: string | null;
  attributes: Record<string, string>;
}

/**
 * Reads what a LiveKit server tells its webhook. Undefined for everything that is no phone call coming in; rejects when
 * the signature does not fit the body.
 */
async function readSipCall(
  { apiKey, apiSecret }: Pick<LiveKitConfig, "apiKey" | "apiSecret">,
  { rawBody, authorization }: { rawBody: string; authorization: string | undefined },
): Promise<SipCall | undefined> {
  const { WebhookReceiver } = await import("livekit-server-sdk");
  const { event, room, participant } = await new WebhookReceiver(apiKey, apiSecret).receive(
    rawBody,
    authorization,
  );
  if (event !== "participant_joined" || !room || !participant) return undefined;
  const { attributes, identity, kind } = participant;
  const callId = attributes["sip.callID"];
  if (!SIP_KINDS.includes(kind) || callId === undefined) return undefined;
  return {
    roomName: room.name,
    identity,
    callId,
    from: attributes["sip.phoneNumber"] ?? null,
    to: attributes["sip.trunkPhoneNumber"] ?? null,
    attributes: { ...attributes },
  };
}
