import {
  AppError,
  requestedTransport,
  type Connect,
  type Invitation,
  type StartRequest,
} from "@vocalhost/protocol";
import type { FastifyRequest } from "fastify";
import { createRoomArguments } from "../../runner-arguments.ts";
import { createInvitations, setRoomAccess, type Invitations } from "../../transports/room-access.ts";
import type { Client } from "../client.ts";
import type { SessionServer } from "../session-server.ts";
import type { Session } from "../session.ts";
import type { Door } from "./door.ts";
import { emptyRoom } from "./empty-room.ts";
import type { RoomOfSession } from "./room-maker.ts";

/** Where a browser is sent that asks for a room by its address. */
const OPEN_PATHS = { "/room": "room", "/livekit": "livekit", "/daily": "daily" } as const;

const invitationsOf = new WeakMap<Session, Invitations>();

/** Bot and client meet in a room; nobody has to come here, so the bot starts at once. */
export const roomDoor: Door = {
  names: ["room"],
  paths: ["/api/invite"],
  async start({ server, request, input }) {
    const { session, room } = await openRoom(server, request, input);
    return { sessionId: session.id, answer: room.answer };
  },
  mount: mountInvitations,
  mountOpen: mountRedirects,
  async begin(server, session, connect) {
    if (connect.kind !== "room") return;
    const close = connect.provider === "daily" ? async () => undefined : () => emptyRoom(connect);
    session.client = clientIn(session, { roomName: connect.roomName, close });
    runInRoom(server, session, connect);
  },
};

async function openRoom(
  server: SessionServer,
  request: FastifyRequest,
  input: StartRequest,
): Promise<{ session: Session; room: RoomOfSession }> {
  if (!server.rooms) throw new AppError("TRANSPORT_DISABLED");
  const session = server.sessions.create({ transport: "room", body: input.body });
  try {
    const room = await server.rooms.make({
      requested: requestedTransport(input) ?? "room",
      sessionId: session.id,
      reachedAs: server.socketBase(request),
      roomProperties: input.roomProperties ?? input.dailyRoomProperties,
      tokenProperties: input.tokenProperties ?? input.dailyMeetingTokenProperties,
    });
    session.client = clientIn(session, room);
    if (session.state === "ended") {
      session.client.close(); // ended while its room was made
      throw new AppError("SESSION_NOT_FOUND");
    }
    const { provider, roomName, botRoomUrl: roomUrl, botToken: token, guestTokens } = room;
    const clientUrl = room.answer.roomUrl;
    // The answer goes first.
    setImmediate(() =>
      runInRoom(server, session, {
        kind: "room",
        provider,
        roomName,
        roomUrl,
        clientUrl,
        token,
        guestTokens,
      }),
    );
    return { session, room };
  } catch (error) {
    await session.end("never-connected");
    throw error;
  }
}

/** The room is the session's: whoever is still there is sent out at its end. */
function clientIn(session: Session, room: Pick<RoomOfSession, "roomName" | "close">): Client {
  let closing: Promise<void> | undefined;
  return {
    id: room.roomName,
    isConnected: false,
    onConnected: () => undefined, // the transport sees who comes
    close() {
      closing ??= room
        .close()
        .catch((error: unknown) => session.log.warn({ err: error }, "room could not be closed"));
    },
    closed: async () => closing,
  };
}

function runInRoom(server: SessionServer, session: Session, connect: Connect & { kind: "room" }): void {
  const { provider, roomUrl, roomName, token, clientUrl, guestTokens } = connect;
  const args = createRoomArguments({
    sessionId: session.id,
    body: session.body,
    callData: null,
    cliArgs: server.cliArgs,
    signal: session.signal,
    provider,
    roomUrl,
    roomName,
    token,
  });
  const invitations = createInvitations(clientUrl, guestTokens);
  invitationsOf.set(session, invitations);
  setRoomAccess(args, { invitations, connectDeadlineMs: session.connectDeadlineMs });
  session.run(server.bot(), args);
}

/** One more may come: for whoever knows the session. */
function mountInvitations({ app, sessions }: SessionServer): void {
  app.post<{ Params: { id: string } }>("/sessions/:id/api/invite", async (request): Promise<Invitation> => {
    const session = sessions.get(request.params.id);
    const invitations = session && invitationsOf.get(session);
    if (!invitations)
      throw new AppError("SESSION_NOT_FOUND", { message: "There is no such session, or it is in no room" });
    return invitations.next();
  });
}

/** `GET /room`: makes a room, starts the bot in it and sends the browser there. */
function mountRedirects(server: SessionServer): void {
  for (const [path, requested] of Object.entries(OPEN_PATHS))
    server.app.get(path, async (request, reply) => {
      requireOwnVisit(request);
      server.bot();
      const { room, session } = await openRoom(server, request, { transport: requested });
      const { roomUrl, token } = room.answer;
      void reply.header("cache-control", "no-store");
      if (room.provider === "daily") return reply.redirect(roomUrl, 307);
      // Behind the hash, so that no log and no other server sees the token.
      const place = new URLSearchParams({ room: roomUrl, token, session: session.id });
      return reply.redirect(`/client/#${place.toString()}`, 307);
    });
}

// It starts something, so a page of somebody else must not be able to have it opened.
function requireOwnVisit(request: FastifyRequest): void {
  const site = request.headers["sec-fetch-site"];
  if (site === undefined || site === "none" || site === "same-origin") return;
  throw new AppError("ORIGIN_NOT_ALLOWED", {
    message:
      "This address starts a bot, so links of other pages do not open it. Type it into the address bar.",
  });
}
