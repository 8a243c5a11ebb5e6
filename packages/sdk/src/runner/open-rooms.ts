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
import type { CallReader, RoomMaker, RoomOfSession } from "../server/doors/room-maker.ts";

/** Settings of rooms. */
export interface RoomsConfig {
  providers: ProvidersConfig;
  embedded: RoomConfig["options"];
}

/** Rooms of a runner, from any provider. */
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
      const here = { ...told, nowMs: Date.now(), mayBeUnsigned: true }; // a developer's machine; a warning at the start says so
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

/** Callers on hold at the provider until the room created for them is ready. */
interface CallsOnHold {
  /** Returns the same room, whose call is forwarded once, by the first request. */
  hold<R extends HeldRoom>(room: R): R;
  /** Forwards the call of a room that is now ready; other rooms are ignored. */
  ready(room: { roomName: string; sipUri: string }): Promise<void>;
}

interface HeldRoom {
  roomName: string;
  /** Undefined when no caller is on hold. */
  forwardCall: ForwardCall | undefined;
  close(): Promise<void>;
}

type ForwardCall = (sipUri?: string) => Promise<void>;

function createCallsOnHold(): CallsOnHold {
  const held = new Map<string, ForwardCall>();
  return {
    hold(room) {
      const { roomName, forwardCall, close } = room;
      if (!forwardCall) return room;
      let forwarding: Promise<void> | undefined;
      const once: ForwardCall = (sipUri) =>
        (forwarding ??= forwardCall(sipUri).catch((error: unknown) => {
          forwarding = undefined; // the room may not have been ready
          throw error;
        }));
      held.set(roomName, once);
      return {
        ...room,
        forwardCall: once,
        close() {
          held.delete(roomName);
          return close();
        },
      };
    },
    async ready({ roomName, sipUri }) {
      await held.get(roomName)?.(sipUri);
    },
  };
}
