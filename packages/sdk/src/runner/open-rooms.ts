import {
  createEmbeddedRooms,
  createRoomProviders,
  joinSessionRoom,
  makeSessionRoom,
  readDailyCall,
  readDailyReady,
  readLiveKitCall,
  roomAnswer,
  type CallRoom,
  type EmbeddedRooms,
  type SessionRoom,
} from "@vocalhost/rooms/providers";
import type { RoomConfig } from "@vocalhost/rooms/config";
import type { ProvidersConfig } from "@vocalhost/rooms/providers/config";
import type { Log } from "../log.ts";
import { createCallsOnHold } from "./calls-on-hold.ts";
import type { CallReader, RoomMaker, RoomOfSession } from "../server/doors/room-maker.ts";

/** How rooms were asked to be. */
export interface RoomsConfig {
  providers: ProvidersConfig;
  embedded: RoomConfig["options"];
}

/** Rooms of a runner, of whoever keeps them. */
export interface OpenRooms extends Pick<RoomMaker, "make" | "join">, AsyncDisposable {
  readonly embedded: EmbeddedRooms;
  readonly read: Record<"daily" | "livekit", CallReader>;
}

export function openRooms(config: RoomsConfig, { log, botUrl }: { log: Log; botUrl(): string }): OpenRooms {
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
    embedded,
    read: { daily: read(readDailyCall), livekit: read(readLiveKitCall) },
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
