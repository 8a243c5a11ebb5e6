import {
  createEmbeddedRooms,
  createRoomProviders,
  makeSessionRoom,
  readProvidersConfig,
  readRoomServerConfig,
  readSipCall,
  roomAnswer,
  type EmbeddedRooms,
  type ProvidersConfig,
  type RoomConfig,
} from "@vocalhost/rooms/providers";
import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../log.ts";
import type { RoomMaker } from "../server/doors/room-maker.ts";

/** How rooms were asked to be. */
export interface RoomsConfig {
  providers: ProvidersConfig;
  embedded: RoomConfig["options"];
}

/** Throws an error that names the setting. */
export function readRoomsConfig(environment: Record<string, string | undefined>): RoomsConfig {
  const { options } = readRoomServerConfig(environment);
  // Free unless it was said: several runners may share a machine.
  const udpPort = environment["VOCALHOST_ROOMS_UDP_PORT"] ? options.media?.udpPort : 0;
  return {
    providers: readProvidersConfig(environment),
    embedded: { ...options, listen: false, media: { ...options.media, udpPort: udpPort ?? 0 } },
  };
}

/** Rooms of a runner: made when somebody asks for the first, its own served on its own port. */
export interface RunnerRooms extends RoomMaker, AsyncDisposable {
  mount(app: FastifyInstance): void;
}

export function createRunnerRooms(
  config: RoomsConfig,
  { log, botUrl }: { log: Log; botUrl(): string },
): RunnerRooms {
  const embedded = createEmbeddedRooms({ server: { ...config.embedded, log }, botUrl });
  const providers = createRoomProviders(config.providers, { embedded, log });
  return {
    async make(wanted) {
      const { sessionId, call, ...rest } = wanted;
      const people = sessionId.slice(0, 8);
      const room = await makeSessionRoom(providers, {
        ...rest,
        prefix: "vocalhost",
        people,
        ...(call ? { sip: { displayName: call.from } } : {}),
      });
      const { provider, roomName, botRoomUrl, botToken, guestTokens, close } = room;
      const answer = roomAnswer(room, sessionId);
      const { sipUri } = room;
      const forwardCall = call &&
        sipUri !== undefined && {
          forwardCall: async () => providers.daily?.forwardCall({ ...call, sipUri }),
        };
      return { provider, roomName, botRoomUrl, botToken, guestTokens, close, answer, ...forwardCall };
    },
    async join({ roomName, sessionId }) {
      const provider = providers.of("livekit");
      const { livekit } = config.providers;
      if (!livekit || provider.name !== "livekit") throw new AppError("TRANSPORT_DISABLED");
      const identity = `Bot-${sessionId.slice(0, 8)}`;
      const botToken = await provider.issueToken({ room: roomName, identity, isBot: true });
      return {
        provider: "livekit",
        roomName,
        botRoomUrl: livekit.url,
        botToken,
        guestTokens: [],
        close: () => provider.deleteRoom(roomName),
        answer: { sessionId, roomUrl: livekit.url, url: livekit.url, token: "" },
      };
    },
    async readCall(told) {
      const { livekit } = config.providers;
      if (!livekit)
        throw new AppError("TRANSPORT_DISABLED", {
          message:
            "Calls from LiveKit need a LiveKit server: set LIVEKIT_URL, LIVEKIT_API_KEY, LIVEKIT_API_SECRET",
        });
      return readSipCall(livekit, told).catch((cause: unknown) => {
        throw new AppError("SIGNATURE_INVALID", { cause });
      });
    },
    mount: (app) => mountRoomServer(app, embedded),
    [Symbol.asyncDispose]: () => providers[Symbol.asyncDispose](),
  };
}

const NO_HEAD = Buffer.alloc(0); // a client says nothing before its socket is open

/** `/rtc` and the service calls, passed on as they come. */
function mountRoomServer(app: FastifyInstance, rooms: EmbeddedRooms): void {
  const pass = (request: FastifyRequest, reply: FastifyReply): void => {
    void reply.hijack();
    const { raw } = request;
    const isTaken = request.ws
      ? rooms.handleUpgrade(raw, raw.socket, NO_HEAD)
      : rooms.handleRequest(raw, reply.raw);
    if (!isTaken) raw.socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  };
  void app.register(async (scope: FastifyInstance) => {
    scope.removeAllContentTypeParsers(); // the room server reads bodies itself
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.route({
      method: "GET",
      url: "/rtc",
      preValidation: async (request, reply) => pass(request, reply),
      handler: refuse,
      wsHandler: () => undefined,
    });
    for (const url of ["/rtc/*", "/twirp/*"])
      scope.route({
        method: ["GET", "POST"],
        url,
        config: { webhook: true },
        preValidation: async (request, reply) => pass(request, reply),
        handler: refuse,
      });
  });
}

async function refuse(): Promise<never> {
  throw new AppError("NOT_FOUND");
}
