import { AppError } from "@vocalhost/protocol";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { RoomServer } from "../room-server.ts";
import { ServiceError } from "../service-error.ts";
import type { RoomServerOptions } from "../settings.ts";
import { LiveKitRoomProperties, LiveKitTokenProperties } from "./livekit-properties.ts";
import { parseProperties, roomNameOf, TOKEN_VALID_S, type RoomProvider } from "./room-provider.ts";
import { grantedRoom } from "./session-room.ts";

/** Rooms on this machine, and the way to them for a program that has a port already. */
export interface EmbeddedRooms extends RoomProvider {
  readonly name: "embedded";
  /** False until the first room was made, and for what is not a room server's to answer. */
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean;
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
}

export interface EmbeddedRoomsOptions {
  server: RoomServerOptions;
  /** Where bots on this machine find the program that passes requests on. @default where the server listens */
  botUrl?(): string;
}

/** The server is started by the first room: who makes none pays nothing. */
export function createEmbeddedRooms({ server: options, botUrl }: EmbeddedRoomsOptions): EmbeddedRooms {
  let starting: Promise<RoomServer> | undefined;
  let server: RoomServer | undefined;

  async function started(): Promise<RoomServer> {
    starting ??= import("../room-server.ts").then(({ startRoomServer }) => startRoomServer(options));
    try {
      server = await starting;
      return server;
    } catch (cause) {
      starting = undefined;
      throw new AppError("ROOMS_UNAVAILABLE", {
        message: `The room server cannot be started: ${cause instanceof Error ? cause.message : String(cause)}`,
        cause,
      });
    }
  }

  function urlsOf(rooms: RoomServer, reachedAs: string | undefined): { url: string; botUrl: string } {
    const near = botUrl?.() ?? rooms.url ?? "";
    return { url: options.publicUrl ?? reachedAs ?? near, botUrl: near };
  }

  return {
    name: "embedded",
    async createRoom({ prefix, mark, properties, sip, reachedAs }) {
      if (sip)
        throw new AppError("TRANSPORT_DISABLED", {
          message:
            "The embedded room server takes no phone calls: configure Daily (DAILY_API_KEY) or a LiveKit server (LIVEKIT_URL).",
        });
      const wanted = parseProperties(LiveKitRoomProperties, properties);
      const rooms = await started();
      const name = roomNameOf({ prefix, mark });
      try {
        rooms.createRoom({ name, ...wanted });
      } catch (cause) {
        if (!(cause instanceof ServiceError)) throw cause;
        throw new AppError("ROOMS_UNAVAILABLE", { message: cause.message, cause });
      }
      return { name, ...urlsOf(rooms, reachedAs) };
    },
    async findRoom(token, { reachedAs } = {}) {
      const name = await grantedRoom(token, options);
      if (name === undefined) return undefined;
      const rooms = await started();
      return { name, ...urlsOf(rooms, reachedAs) };
    },
    async issueToken({ room, identity, isBot, isGuest, properties }) {
      const video = { roomJoin: true, room, ...(isBot ? { roomAdmin: !isGuest, agent: true } : {}) };
      const wanted = parseProperties(LiveKitTokenProperties, properties);
      const kind = isBot ? { kind: "agent" } : {};
      const { signToken } = await import("../tokens.ts");
      return signToken({ identity, ...kind, ...wanted, video, validForS: TOKEN_VALID_S }, options);
    },
    async deleteRoom(name) {
      server?.deleteRoom(name);
    },
    handleRequest: (request, response) => server?.handleRequest(request, response) ?? false,
    handleUpgrade: (request, socket, head) => server?.handleUpgrade(request, socket, head) ?? false,
    async [Symbol.asyncDispose]() {
      const running = await starting?.catch(() => undefined);
      await running?.[Symbol.asyncDispose]();
    },
  };
}
