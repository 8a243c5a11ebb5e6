import { readConfig as readRoomServerConfig } from "@vocalhost/rooms/config";
import { readProvidersConfig } from "@vocalhost/rooms/providers/config";
import { AppError } from "@vocalhost/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../log.ts";
import type { CallReader, RoomMaker } from "../server/doors/room-maker.ts";
import type { OpenRooms, RoomsConfig } from "./open-rooms.ts";

/** Throws an error that names the setting. */
export function readRoomsConfig(environment: Record<string, string | undefined>): RoomsConfig {
  const { options } = readRoomServerConfig(environment);
  // Any free port by default: several runners may share a machine.
  const udpPort = environment["VOCALHOST_ROOMS_UDP_PORT"] ? options.media?.udpPort : 0;
  return {
    providers: readProvidersConfig(environment),
    embedded: { ...options, listen: false, media: { ...options.media, udpPort: udpPort ?? 0 } },
  };
}

/** Rooms of a runner, created on demand. Its own rooms are served on the runner's port. */
export interface RunnerRooms extends RoomMaker, AsyncDisposable {
  mount(app: FastifyInstance): void;
}

export interface RunnerRoomsOptions {
  log: Log;
  /** Whether phone calls may arrive through rooms. */
  takesCalls: boolean;
  botUrl(): string;
}

/** Loads the room providers with the first room, since most runners have none. */
export function createRunnerRooms(config: RoomsConfig, options: RunnerRoomsOptions): RunnerRooms {
  let opened: OpenRooms | undefined;
  let opening: Promise<OpenRooms> | undefined;
  async function open(): Promise<OpenRooms> {
    opening ??= import("./open-rooms.ts").then(({ openRooms }) => openRooms(config, options));
    opened = await opening;
    return opened;
  }
  const read =
    (provider: "daily" | "livekit"): CallReader =>
    async (told) =>
      (await open()).read[provider](told);
  return {
    make: async (wanted) => (await open()).make(wanted),
    join: async (wanted) => (await open()).join(wanted),
    calls: options.takesCalls ? { daily: read("daily"), livekit: read("livekit") } : undefined,
    mount: (app) => mountRoomServer(app, () => opened?.embedded),
    [Symbol.asyncDispose]: async () => (await opening)?.[Symbol.asyncDispose](),
  };
}

const NO_HEAD = Buffer.alloc(0); // clients send nothing before their socket is open

/** Forwards `/rtc` and the service calls unchanged. */
function mountRoomServer(app: FastifyInstance, rooms: () => OpenRooms["embedded"] | undefined): void {
  const pass = (request: FastifyRequest, reply: FastifyReply): void => {
    void reply.hijack();
    const { raw } = request;
    const isTaken = request.ws
      ? rooms()?.handleUpgrade(raw, raw.socket, NO_HEAD)
      : rooms()?.handleRequest(raw, reply.raw);
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
