import {
  createEmbeddedRooms,
  createRoomProviders,
  joinSessionRoom,
  makeSessionRoom,
  readDailyCall,
  readDailyReady,
  readLiveKitCall,
  readProvidersConfig,
  readRoomServerConfig,
  roomAnswer,
  type CallRoom,
  type EmbeddedRooms,
  type ProvidersConfig,
  type RoomConfig,
  type SessionRoom,
} from "@vocalhost/rooms/providers";
import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../log.ts";
import { createCallsOnHold } from "./calls-on-hold.ts";
import type { CallReader, RoomMaker, RoomOfSession } from "../server/doors/room-maker.ts";

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

export interface RunnerRoomsOptions {
  log: Log;
  /** Phone calls may come in through rooms. */
  takesCalls: boolean;
  botUrl(): string;
}

export function createRunnerRooms(
  config: RoomsConfig,
  { log, takesCalls, botUrl }: RunnerRoomsOptions,
): RunnerRooms {
  const embedded = createEmbeddedRooms({ server: { ...config.embedded, log }, botUrl });
  const providers = createRoomProviders(config.providers, { embedded, log });
  const onHold = createCallsOnHold();
  const read =
    (readCall: typeof readDailyCall | typeof readLiveKitCall): CallReader =>
    async (told) => {
      const here = { ...told, nowMs: Date.now(), mayBeUnsigned: true }; // a developer's machine; the start says so
      const ready = readDailyReady(config.providers, here);
      if (ready) {
        await onHold.ready(ready);
        return undefined;
      }
      const call = await readCall(providers, config.providers, here);
      if (!call) return undefined;
      const open = async (sessionId: string): Promise<RoomOfSession> => {
        const room = await call.openRoom({ prefix: PREFIX, people: sessionId.slice(0, 8) });
        return toRoom(onHold.hold(room), sessionId);
      };
      return { callId: call.callId, body: call.body, callData: call.callData, open };
    };
  return {
    async make({ sessionId, ...wanted }) {
      const people = sessionId.slice(0, 8);
      return toRoom(await makeSessionRoom(providers, { ...wanted, prefix: PREFIX, people }), sessionId);
    },
    async join({ sessionId, ...wanted }) {
      return toRoom(
        await joinSessionRoom(providers, { ...wanted, people: sessionId.slice(0, 8) }),
        sessionId,
      );
    },
    calls: takesCalls ? { daily: read(readDailyCall), livekit: read(readLiveKitCall) } : undefined,
    mount: (app) => mountRoomServer(app, embedded),
    [Symbol.asyncDispose]: () => providers[Symbol.asyncDispose](),
  };
}

const PREFIX = "vocalhost";

function toRoom(
  room: SessionRoom & Partial<Pick<CallRoom, "forwardCall">>,
  sessionId: string,
): RoomOfSession {
  const { provider, roomName, botRoomUrl, botToken, guestTokens, sipTrunk, isGuest } = room;
  const { close, forwardCall } = room;
  const answer = roomAnswer(room, sessionId);
  return {
    ...{ provider, roomName, botRoomUrl, botToken, guestTokens, sipTrunk, isGuest },
    ...{ close, forwardCall, answer },
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
