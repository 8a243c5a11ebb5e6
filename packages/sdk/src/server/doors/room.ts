import { AppError, requestedTransport, type Invitation, type StartRequest } from "@vocalhost/protocol";
import type { FastifyRequest } from "fastify";
import { mountDialIn } from "./dial-in.ts";
import type { Door, SessionHost } from "./door.ts";
import { emptyRoom } from "./empty-room.ts";
import { clientIn, invitationsOf, openRoom, runInRoom, type RoomOpening } from "./open-room.ts";

/** Paths that redirect a browser to a new room. */
const OPEN_PATHS = { "/room": "room", "/livekit": "livekit", "/daily": "daily" } as const;

/** Bot and client meet in a room. The bot starts at once, since no client connects to this server. */
export const roomDoor: Door = {
  names: ["room"],
  paths: ["/api/invite"],
  async start({ server, request, input }) {
    const { session, room } = await openRoom(server, wantedBy(server, request, input));
    return { sessionId: session.id, answer: room.answer };
  },
  mount: mountInvitations,
  mountOpen(server) {
    mountRedirects(server);
    mountDialIn(server);
  },
  async begin(server, session, connect) {
    if (connect.kind !== "room") return;
    const isOthers = connect.isGuest || connect.provider === "daily";
    const close = isOthers ? async () => undefined : () => emptyRoom(connect);
    session.client = clientIn(session, { roomName: connect.roomName, close });
    runInRoom(server, session, { connect, callData: connect.callData ?? null });
  },
};

function wantedBy(server: SessionHost, request: FastifyRequest, input: StartRequest): RoomOpening {
  return {
    body: input.body,
    callData: null,
    make(rooms, sessionId) {
      const wanted = {
        requested: requestedTransport(input) ?? "room",
        sessionId,
        reachedAs: server.socketBase(request),
        roomProperties: input.roomProperties ?? input.dailyRoomProperties,
        tokenProperties: input.tokenProperties ?? input.dailyMeetingTokenProperties,
      };
      return input.room ? rooms.join({ ...wanted, token: input.room.token }) : rooms.make(wanted);
    },
  };
}

/** Gives an invitation for one more participant to a client that knows the session. */
function mountInvitations({ app, sessions }: SessionHost): void {
  app.post<{ Params: { id: string } }>("/sessions/:id/api/invite", async (request): Promise<Invitation> => {
    const session = sessions.get(request.params.id);
    const invitations = session && invitationsOf(session);
    if (!invitations)
      throw new AppError("SESSION_NOT_FOUND", { message: "There is no such session, or it is in no room" });
    return invitations.next();
  });
}

/** `GET /room`: creates a room, starts the bot in it and redirects the browser there. */
function mountRedirects(server: SessionHost): void {
  for (const [path, requested] of Object.entries(OPEN_PATHS))
    server.app.get(path, async (request, reply) => {
      requireOwnVisit(request);
      server.bot();
      const { room, session } = await openRoom(server, wantedBy(server, request, { transport: requested }));
      const { roomUrl, token } = room.answer;
      void reply.header("cache-control", "no-store");
      if (room.provider === "daily") return reply.redirect(roomUrl, 307);
      // The fragment keeps the token out of logs and away from other servers.
      const place = new URLSearchParams({ room: roomUrl, token, session: session.id });
      return reply.redirect(`/client/#${place.toString()}`, 307);
    });
}

// Visits start a bot, so pages of other origins must not trigger them.
function requireOwnVisit(request: FastifyRequest): void {
  const site = request.headers["sec-fetch-site"];
  if (site === undefined || site === "none" || site === "same-origin") return;
  throw new AppError("ORIGIN_NOT_ALLOWED", {
    message:
      "This address starts a bot, so links of other pages do not open it. Type it into the address bar.",
  });
}
