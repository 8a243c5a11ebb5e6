import { AppError, type Invitation } from "@vocalhost/protocol";
import { z } from "zod";
import { createRoomArguments, type RunnerArguments } from "../bot/runner-arguments.ts";
import { attachHooks, hooksOf } from "./session-hooks.ts";
import { createTransport } from "./create-transport.ts";
import { createInvitations, setRoomAccess } from "./room-access.ts";
import type { Transport, TransportOptions } from "./transport.ts";

const Claims = z.object({ video: z.object({ room: z.string().min(1) }) });

/**
 * Joins a room on behalf of the session's user, such as a caller. Other participants see a person, whom bots hear.
 * The transport hears everyone, including bots. It ends with the session or the room; the session outlives the
 * room.
 */
export async function joinRoom(
  args: RunnerArguments,
  { roomUrl, token }: Pick<Invitation, "roomUrl" | "token">,
  options: TransportOptions = {},
): Promise<Transport> {
  const hooks = hooksOf(args);
  const over = new AbortController();
  const { sessionId, body, callData, cliArgs } = args;
  const roomArgs = createRoomArguments({
    ...{ sessionId, body, callData, cliArgs, roomUrl: requireLiveKit(roomUrl), token },
    roomName: roomNameIn(token),
    provider: "livekit",
    forwardCall: undefined,
    signal: AbortSignal.any([args.signal, over.signal]),
  });
  setRoomAccess(roomArgs, {
    invitations: createInvitations(roomUrl, []),
    connectDeadlineMs: undefined,
    sipTrunk: undefined,
    isStandIn: true,
  });
  attachHooks(roomArgs, {
    ...hooks,
    connected: () => undefined,
    ended: (reason) => over.abort(reason),
  });
  return createTransport(roomArgs, { ...options, room: { hear: "all", stay: true, ...options.room } });
}

function requireLiveKit(roomUrl: string): string {
  if (/^wss?:\/\//.test(roomUrl)) return roomUrl;
  throw new AppError("ROOM_NOT_JOINABLE", {
    message: `roomUrl must be the ws:// or wss:// address of an embedded or a LiveKit room, got "${roomUrl}"`,
  });
}

/** Reads the name from the token; the server verifies the token itself. */
function roomNameIn(token: string): string {
  try {
    const [, claims = ""] = token.split(".");
    return Claims.parse(JSON.parse(Buffer.from(claims, "base64url").toString("utf8"))).video.room;
  } catch (cause) {
    throw new AppError("ROOM_NOT_JOINABLE", { message: "token is not a room token", cause });
  }
}
