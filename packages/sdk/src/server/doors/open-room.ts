import { AppError, type Connect } from "@vocalhost/protocol";
import type { CallData } from "@vocalhost/carriers";
import { createRoomArguments } from "../../bot/runner-arguments.ts";
import { createInvitations, setRoomAccess, type Invitations } from "../../transports/room-access.ts";
import type { Client } from "../client.ts";
import type { Session } from "../session.ts";
import type { RoomMaker, RoomOfSession } from "./room-maker.ts";
import type { SessionHost } from "./door.ts";

/** A room to create, and the call it is for. */
export interface RoomOpening {
  body: unknown;
  /** The phone call that comes into the room. */
  callData: CallData | null;
  make(rooms: RoomMaker, sessionId: string): Promise<RoomOfSession>;
}

export interface RoomRun {
  connect: Extract<Connect, { kind: "room" }>;
  callData: CallData | null;
  forwardCall?: RoomOfSession["forwardCall"];
}

const invitations = new WeakMap<Session, Invitations>();

/** Returns the invitations of a session in a room. */
export function invitationsOf(session: Session): Invitations | undefined {
  return invitations.get(session);
}

/** Runs the bot in a room that is created for it, or that it is invited to. */
export async function openRoom(
  server: SessionHost,
  { body, callData, make }: RoomOpening,
): Promise<{ session: Session; room: RoomOfSession }> {
  if (!server.rooms) throw new AppError("TRANSPORT_DISABLED");
  const session = server.sessions.create({ transport: "room", body });
  try {
    const room = await make(server.rooms, session.id);
    session.client = clientIn(session, room);
    if (session.state === "ended") {
      session.client.close(); // ended while its room was being created
      throw new AppError("SESSION_NOT_FOUND");
    }
    const { provider, roomName, botRoomUrl: roomUrl, botToken: token, guestTokens, isGuest } = room;
    const trunk = room.sipTrunk === undefined ? {} : { sipTrunk: room.sipTrunk };
    const clientUrl = room.answer.roomUrl;
    // Sends the answer first.
    setImmediate(() =>
      runInRoom(server, session, {
        connect: {
          kind: "room",
          provider,
          roomName,
          roomUrl,
          clientUrl,
          token,
          guestTokens,
          isGuest,
          ...trunk,
        },
        callData,
        forwardCall: room.forwardCall,
      }),
    );
    return { session, room };
  } catch (error) {
    await session.end("never-connected");
    throw error;
  }
}

/** Returns a client that owns the room: remaining participants are removed at the session's end. */
export function clientIn(session: Session, room: Pick<RoomOfSession, "roomName" | "close">): Client {
  let closing: Promise<void> | undefined;
  return {
    id: room.roomName,
    isConnected: false,
    onConnected: () => undefined, // the transport sees participants join
    close() {
      closing ??= room
        .close()
        .catch((error: unknown) => session.log.warn({ err: error }, "closing the room failed"));
    },
    closed: async () => closing,
  };
}

export function runInRoom(
  server: SessionHost,
  session: Session,
  { connect, callData, forwardCall }: RoomRun,
): void {
  const { provider, roomUrl, roomName, token, clientUrl, guestTokens, sipTrunk } = connect;
  const args = createRoomArguments({
    sessionId: session.id,
    body: session.body,
    callData,
    cliArgs: server.cliArgs,
    idleTimeoutSecs: server.idleTimeoutSecs,
    signal: session.signal,
    provider,
    roomUrl,
    roomName,
    token,
    forwardCall,
  });
  const offered = createInvitations(clientUrl, guestTokens);
  invitations.set(session, offered);
  const { connectDeadlineMs } = session;
  setRoomAccess(args, { invitations: offered, connectDeadlineMs, sipTrunk, isStandIn: false });
  session.run(server.bot(), args);
}
