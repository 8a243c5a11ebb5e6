import { carrierNames, isCarrier, type CarrierName } from "@vocalhost/carriers";
import { z } from "zod";
import { AppError } from "./errors.ts";
import { limits } from "./limits.ts";

/** How a client and a bot can be connected in this version. */
export const transportNames = ["webrtc", "websocket", "room", ...carrierNames] as const;
export type TransportName = (typeof transportNames)[number];

/** Other names of `room`; each asks for the provider it names. */
export const roomAliases = ["daily", "livekit"] as const;

/** Room providers: our own server, a LiveKit server, or Daily. */
export const roomProviderNames = ["embedded", "livekit", "daily"] as const;
export type RoomProviderName = (typeof roomProviderNames)[number];

export const IceServer = z.object({
  urls: z.union([z.string(), z.array(z.string())]),
  username: z.string().optional(),
  credential: z.string().optional(),
});
export type IceServer = z.infer<typeof IceServer>;

/** Caller and callee of a phone call that comes in through a room. */
export const RoomCallData = z.object({
  streamId: z.string(),
  callId: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  body: z.record(z.string(), z.unknown()),
});
export type RoomCallData = z.infer<typeof RoomCallData>;

/** How the client of a session comes to the instance that runs it, and what the instance must know for that. */
export const Connect = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("webrtc"), iceServers: z.array(IceServer) }),
  z.object({
    kind: z.literal("socket"),
    /** Below this, carriers can ask what to do with a call. */
    callbackUrl: z.string().optional(),
  }),
  z.object({
    kind: z.literal("room"),
    provider: z.enum(roomProviderNames),
    /** The bot's way; a client's may be another. */
    roomUrl: z.string(),
    clientUrl: z.string(),
    roomName: z.string(),
    /** The bot's own. */
    token: z.string(),
    /** For those the bot may invite; one for each. */
    guestTokens: z.array(z.string()),
    /** The trunk over which the bot may call a person into the room. */
    sipTrunk: z.string().optional(),
    callData: RoomCallData.optional(),
    /** The room is another session's, and stays when this one ends. */
    isGuest: z.boolean().optional(),
  }),
]);
export type Connect = z.infer<typeof Connect>;

/** The transport a start request asks for, in any of its spellings; undefined when it leaves the choice to us. */
export function requestedTransport(input: {
  transport?: string | null | undefined;
  createDailyRoom?: boolean | null | undefined;
  room?: object | null | undefined;
  dialout?: object | null | undefined;
}): string | undefined {
  const { transport } = input;
  if (input.dialout && !isCarrier(transport ?? ""))
    throw new AppError("INVALID_REQUEST", {
      message: `Calls are placed by a carrier: with 'dialout', transport must be one of ${carrierNames.join(", ")}`,
    });
  if (!input.room) return transport ?? (input.createDailyRoom === true ? "daily" : undefined);
  if (transport === undefined || transport === null || isRoomTransport(transport)) return transport ?? "room";
  throw new AppError("INVALID_REQUEST", {
    message: `Only transport 'room' goes into a room: leave out 'room', or transport '${transport.slice(0, 100)}'`,
  });
}

function isRoomTransport(name: string): boolean {
  return name === "room" || (roomAliases as readonly string[]).includes(name);
}

export interface TransportChoice {
  accepted: readonly TransportName[];
  /** The only one clients may use, if the server was told so. */
  only?: TransportName | undefined;
  /** Ends the sentence about a transport that is known but not accepted: "is not available here." */
  refusal: string;
}

/** The transport a start request gets, or why it gets none. The default is WebRTC. */
export function chooseTransport(
  requested: string | null | undefined,
  { accepted, only, refusal }: TransportChoice,
): TransportName {
  const asked = requested ?? only ?? "webrtc";
  const name = isRoomTransport(asked) ? "room" : asked;
  if (!(transportNames as readonly string[]).includes(name))
    throw new AppError("TRANSPORT_UNKNOWN", { message: `Unknown transport '${name.slice(0, 100)}'.` });
  if (only && name !== only)
    throw new AppError("TRANSPORT_NOT_ALLOWED", {
      message: `Transport '${asked}' is not allowed. Server is configured for '${only}' only (-t ${only}).`,
    });
  const transport = accepted.find((each) => each === name);
  if (transport) return transport;
  throw new AppError("TRANSPORT_DISABLED", { message: `Transport '${asked}' ${refusal}` });
}

export function isSocketTransport(transport: TransportName): transport is "websocket" | CarrierName {
  return transport === "websocket" || isCarrier(transport);
}

// Hosted, the body of a socket session may travel in the socket's URL; the same limit everywhere keeps surprises out.
export function requireStartBodyFits(transport: TransportName, body: unknown): void {
  if (!isSocketTransport(transport)) return;
  const bytes = new TextEncoder().encode(JSON.stringify(body ?? {})).length;
  if (bytes <= limits.websocketStartBodyBytes) return;
  throw new AppError("PAYLOAD_TOO_LARGE", {
    message: `The start body of a websocket session may have ${limits.websocketStartBodyBytes} bytes at most`,
  });
}
