import { AppError } from "@vocalhost/protocol";
import { z } from "zod";
import type { DialOptions, DialledParticipant } from "./transport.ts";

export interface DialOut {
  roomUrl: string;
  roomName: string;
  /** The bot's own token; it must permit calls. */
  token: string;
  sipTrunk: string | undefined;
  signal: AbortSignal;
}

const Answered = z.object({ participantIdentity: z.string() });
const Refused = z.object({ code: z.string(), msg: z.string() });
const CALLABLE = /^[+*#\w.-]{1,64}$/;
const ANSWER_MS = 90_000; // longer than phones ring

/** Has a LiveKit server call a phone into the room over its SIP trunk. */
export async function dialOut(
  { roomUrl, roomName, token, sipTrunk, signal }: DialOut,
  to: string,
  { identity = `sip_${to}`, name = to }: DialOptions = {},
): Promise<DialledParticipant> {
  if (sipTrunk === undefined)
    throw new AppError("ROOM_REFUSED", {
      message:
        "Phones cannot be called into this room. Calls need a LiveKit server with an outbound SIP trunk (LIVEKIT_SIP_TRUNK), and a room of the bot's own",
    });
  if (!CALLABLE.test(to)) throw new AppError("INVALID_REQUEST", { message: `"${to}" is not a phone number` });
  const url = `${roomUrl.replace(/^ws/, "http")}/twirp/livekit.SIP/CreateSIPParticipant`;
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      sipTrunkId: sipTrunk,
      sipCallTo: to,
      roomName,
      participantIdentity: identity,
      participantName: name,
      waitUntilAnswered: true,
    }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
  });
  const said: unknown = await response.json().catch(() => undefined);
  const answered = Answered.safeParse(fromProtobufJson(said));
  if (response.ok && answered.success) return { identity: answered.data.participantIdentity };
  const refused = Refused.safeParse(said).data;
  throw new AppError("ROOM_REFUSED", {
    message: `The LiveKit server did not connect the call: ${refused ? `${refused.msg} (${refused.code})` : `HTTP ${response.status}`}`,
  });
}

/** Twirp servers answer with the field names of their .proto files. */
function fromProtobufJson(said: unknown): unknown {
  if (typeof said !== "object" || said === null) return said;
  return "participant_identity" in said ? { participantIdentity: said.participant_identity } : said;
}
