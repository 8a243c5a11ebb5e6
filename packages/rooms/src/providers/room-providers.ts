import { AppError, type RoomProviderName } from "@vocalhost/protocol";
import type { Log } from "../log.ts";
import type { ProvidersConfig } from "./config.ts";
import { createDailyRooms, type DailyRooms } from "./daily.ts";
import { createLiveKitRooms } from "./livekit.ts";
import type { MadeRoom, RoomProvider } from "./room-provider.ts";

/** Every provider that is configured. */
export interface RoomProviders extends AsyncDisposable {
  /** The one a client means by this name: `room`, `livekit` or `daily`. */
  of(requested: string): RoomProvider;
  named(name: RoomProviderName): RoomProvider;
  /** The room a token lets into, and who keeps it; undefined when none of them does. */
  find(token: string, options: { reachedAs?: string | undefined }): Promise<FoundRoom | undefined>;
  readonly daily: DailyRooms | undefined;
}

export interface FoundRoom {
  provider: RoomProvider;
  room: MadeRoom;
}

export function createRoomProviders(
  config: ProvidersConfig,
  { embedded, log }: { embedded: RoomProvider; log: Log },
): RoomProviders {
  const livekit = config.livekit && createLiveKitRooms(config.livekit);
  const daily = config.daily && createDailyRooms(config.daily, { log });

  function named(name: RoomProviderName): RoomProvider {
    switch (name) {
      case "embedded":
        return embedded;
      case "livekit":
        return livekit ?? embedded; // its clients can join ours
      case "daily":
        if (daily) return daily;
        throw new AppError("TRANSPORT_DISABLED", {
          message:
            "Transport 'daily' needs an account at Daily: set DAILY_API_KEY, or ask for transport 'room' to get a room of this server.",
        });
      default:
        return name satisfies never;
    }
  }

  return {
    of: (requested) =>
      requested === "daily" || requested === "livekit" ? named(requested) : named(config.preferred),
    named,
    async find(token, options) {
      for (const provider of [embedded, livekit, daily]) {
        const room = await provider?.findRoom(token, options);
        if (provider && room) return { provider, room };
      }
      return undefined;
    },
    daily,
    [Symbol.asyncDispose]: () => embedded[Symbol.asyncDispose](),
  };
}
