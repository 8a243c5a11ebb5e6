import { AppError, requestedTransport, type Invitation, type StartRequest } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Door, SessionHost } from "./door.ts";
import { clientIn, invitationsOf, openRoom, runInRoom, type RoomOpening } from "./open-room.ts";
import type { CallReader } from "./room-maker.ts";

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

interface WebhookRequest {
  Body: string | undefined;
}

const WEBHOOK_MAX_BYTES = 64 * 1024;
const CALLS_REMEMBERED_MAX = 1_000; // carriers repeat a delivery within minutes

/** Takes calls that arrive through a room's provider: the bot joins the room with the call's data. */
function mountDialIn(server: SessionHost): void {
  const readers = server.rooms?.calls;
  if (!readers) return;
  const calls = new Map<string, object>();
  void server.app.register(async (scope: FastifyInstance) => {
    scope.removeAllContentTypeParsers();
    // Signatures cover the exact bytes of the body.
    scope.addContentTypeParser(
      "*",
      { parseAs: "string", bodyLimit: WEBHOOK_MAX_BYTES },
      (_request, body, done) => done(null, body),
    );
    const options = { config: { webhook: true } };
    for (const [path, read] of [
      ["/daily-dialin-webhook", readers.daily],
      ["/livekit-webhook", readers.livekit],
    ] as const)
      scope.post<WebhookRequest>(path, options, (request) => takeCall(server, request, { calls, read }));
  });
}

async function takeCall(
  server: SessionHost,
  request: FastifyRequest<WebhookRequest>,
  { calls, read }: { calls: Map<string, object>; read: CallReader },
): Promise<object> {
  const call = await read({ rawBody: request.body ?? "", headers: request.headers });
  if (!call) return { status: "OK" };
  const known = calls.get(call.callId);
  if (known) return known;
  remember(calls, call.callId, { status: "OK" }); // remembered while its room is being created, too
  try {
    const { body, callData, open } = call;
    const { room } = await openRoom(server, { body, callData, make: (_rooms, id) => open(id) });
    remember(calls, call.callId, room.answer);
    return room.answer;
  } catch (error) {
    calls.delete(call.callId);
    throw error;
  }
}

function remember(calls: Map<string, object>, callId: string, answer: object): void {
  calls.set(callId, answer);
  const [oldest] = calls.keys();
  if (calls.size > CALLS_REMEMBERED_MAX && oldest !== undefined) calls.delete(oldest);
}

const Participants = z.object({ participants: z.array(z.object({ identity: z.string() })) });
const CALL_MS = 3_000;

/** Removes all participants from a room with the bot's own token; LiveKit then closes the room. */
async function emptyRoom(room: { roomUrl: string; roomName: string; token: string }): Promise<void> {
  const signal = AbortSignal.timeout(CALL_MS);
  const call = async (method: string, body: object): Promise<unknown> => {
    const response = await fetch(
      `${room.roomUrl.replace(/^ws/, "http")}/twirp/livekit.RoomService/${method}`,
      {
        method: "POST",
        headers: { authorization: `Bearer ${room.token}`, "content-type": "application/json" },
        body: JSON.stringify({ room: room.roomName, ...body }),
        signal,
      },
    );
    if (!response.ok && response.status !== 404) throw new Error(`${method} was answered ${response.status}`);
    return response.json();
  };
  const { participants } = Participants.parse(await call("ListParticipants", {}));
  await Promise.all(participants.map(({ identity }) => call("RemoveParticipant", { identity })));
}
