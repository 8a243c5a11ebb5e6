import { AppError, type RoomCallData } from "@vocalhost/protocol";
import { z } from "zod";
import type { ProvidersConfig } from "./config.ts";
import { isSignedByDaily } from "./daily-signature.ts";
import { readSipCall } from "./livekit-webhook.ts";
import type { RoomProviders } from "./room-providers.ts";
import { makeSessionRoom, type SessionRoom } from "./session-room.ts";

/** A phone call that a provider has told of. */
export interface IncomingCall {
  callId: string;
  /** What the bot is given. */
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
