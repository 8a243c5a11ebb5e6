import { AppError } from "@vocalhost/protocol";
import {
  createOwnServerRooms,
  createRoomProviders,
  joinSessionRoom,
  makeSessionRoom,
  readDailyCall,
  readDailyReady,
  readLiveKitCall,
  roomAnswer,
  type ProvidersConfig,
  type SessionRoom,
} from "@vocalhost/rooms/providers";
import { randomBytes } from "node:crypto";
import type { Clock } from "@vocalhost/base/clock";
import type { HostSide } from "@vocalhost/drivers/driver";
import type { Log } from "@vocalhost/base/log";
import type { CallRoom, MadeSessionRoom, SessionRooms } from "../../sessions/doors/door.ts";
import type { RoomServer } from "./room-server.ts";

export const ROOMS_API_KEY = "vocalhost";

export interface OpenRoomsOptions {
  config: ProvidersConfig;
  /** Secret of our own room server. */
  apiSecret: string;
  openServer(): Promise<RoomServer>;
  /** This machine's address as bots with their own network in a region reach it. */
  hostOf(region: string): HostSide | undefined;
  log: Log;
  clock: Pick<Clock, "nowMs">;
}

/** Opens the providers of rooms: our own server, a LiveKit server, or Daily. */
export function openRooms(options: OpenRoomsOptions): SessionRooms {
  const { config, apiSecret, openServer, hostOf, log, clock } = options;
  const embedded = createOwnServerRooms({
    apiKey: ROOMS_API_KEY,
    apiSecret,
    open: async () => (await openServer()).url,
  });
  const providers = createRoomProviders(config, { embedded, log });

  /** Bots with their own network reach our server at another address. */
  async function reachable(room: SessionRoom, region: string): Promise<SessionRoom> {
    const host = hostOf(region);
    if (room.provider !== "embedded" || !host) return room;
    const [server, address] = await Promise.all([openServer(), host.address()]);
    return { ...room, botRoomUrl: server.urlAt(address) };
  }

  /** The region is not chosen yet. A region that cannot be asked is left out. */
  async function madeFor(room: SessionRoom, regions: readonly string[]): Promise<MadeSessionRoom> {
    const rooms = new Map<string, SessionRoom>();
    for (const region of regions)
      await reachable(room, region).then(
        (seen) => rooms.set(region, seen),
        (error: unknown) => log.warn({ err: error, region }, "a region cannot be asked for its way to rooms"),
      );
    return {
      ...toMade(room),
      connectIn(region) {
        const seen = rooms.get(region);
        if (seen) return toMade(seen).connect;
        throw new AppError("ROOMS_UNAVAILABLE", { message: `The region '${region}' has no way to the room` });
      },
    };
  }

  return {
    async require(requested) {
      providers.of(requested);
    },
    async make({ token, regions, ...wanted }) {
      if (token === undefined) return madeFor(await makeSessionRoom(providers, wanted), regions);
      const people = wanted.mark?.slice(0, 8) ?? randomBytes(4).toString("hex");
      return madeFor(await joinSessionRoom(providers, { ...wanted, token, people }), regions);
    },
    async readCall(told) {
      const isLiveKit = /^application\/webhook\+json\b/.test(String(told.headers["content-type"]));
      const read = isLiveKit ? readLiveKitCall : readDailyCall;
      const call = await read(providers, config, { ...told, nowMs: clock.nowMs(), mayBeUnsigned: false });
      if (!call) return undefined;
      const { callId, body, callData } = call;
      return {
        callId,
        body,
        async open(mark) {
          const room = await call.openRoom({ prefix: "vocalhost", mark, people: mark.slice(0, 8) });
          const made = toMade(room);
          // With ready events, the call is forwarded on that event; earlier the room may still be empty.
          const forwardCall = config.daily?.eventSecret === undefined ? room.forwardCall : undefined;
          return { ...made, connect: { ...made.connect, callData }, forwardCall };
        },
      };
    },
    readReady: async (told) =>
      readDailyReady(config, { ...told, nowMs: clock.nowMs(), mayBeUnsigned: false }),
    forwardCall: async (call) => providers.daily?.forwardCall(call),
    close: (provider, roomName) => providers.named(provider).deleteRoom(roomName),
  };
}

function toMade(room: SessionRoom): Omit<CallRoom, "forwardCall"> {
  const { provider, roomName, botRoomUrl: roomUrl, botToken: token, guestTokens, isGuest, sipTrunk } = room;
  return {
    name: roomName,
    connect: {
      kind: "room",
      ...{ provider, roomName, roomUrl, clientUrl: room.roomUrl, token, guestTokens, isGuest },
      ...(sipTrunk === undefined ? {} : { sipTrunk }),
    },
    answer: (sessionId) => roomAnswer(room, sessionId),
    close: room.close,
  };
}
