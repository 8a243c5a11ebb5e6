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
  /** Of our own room server. */
  apiSecret: string;
  openServer(): Promise<RoomServer>;
  /** This machine, as bots of a region see it that have a network of their own. */
  hostOf(region: string): HostSide | undefined;
  log: Log;
  clock: Pick<Clock, "nowMs">;
}

/** Rooms of the service: its own server's, a LiveKit server's, or Daily's. */
export function openRooms(options: OpenRoomsOptions): SessionRooms {
  const { config, apiSecret, openServer, hostOf, log, clock } = options;
  const embedded = createOwnServerRooms({
    apiKey: ROOMS_API_KEY,
    apiSecret,
    open: async () => (await openServer()).url,
  });
  const providers = createRoomProviders(config, { embedded, log });

  /** Bots in networks of their own have another way to our own server. */
  async function reachable(room: SessionRoom, region: string): Promise<SessionRoom> {
    const host = hostOf(region);
    if (room.provider !== "embedded" || !host) return room;
    const [server, address] = await Promise.all([openServer(), host.address()]);
    return { ...room, botRoomUrl: server.urlAt(address) };
  }

  /** Which of the regions it will be is not known yet; one that cannot be asked keeps nobody from the others. */
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
          // Whoever is told of ready rooms waits for that; a call that is forwarded earlier may meet nobody.
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
