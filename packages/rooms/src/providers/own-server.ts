import { AppError } from "@vocalhost/protocol";
import { createLiveKitRooms } from "./livekit.ts";
import type { RoomProvider } from "./room-provider.ts";
import { grantedRoom } from "./session-room.ts";

export interface OwnServerOptions {
  apiKey: string;
  apiSecret: string;
  /** Starts our room server in a process of its own, if it does not run, and gives its address: `ws://…`. */
  open(): Promise<string>;
}

/** Rooms of our own server in another process, which is spoken to as any LiveKit server is. */
export function createOwnServerRooms({ open, apiKey, apiSecret }: OwnServerOptions): RoomProvider {
  async function rooms(): Promise<RoomProvider> {
    const url = await open().catch((cause: unknown) => {
      throw new AppError("ROOMS_UNAVAILABLE", { message: "The room server does not run", cause });
    });
    return createLiveKitRooms({ url, apiKey, apiSecret });
  }
  return {
    name: "embedded",
    async createRoom(wanted) {
      if (wanted.sip)
        throw new AppError("TRANSPORT_DISABLED", {
          message:
            "The embedded room server takes no phone calls: configure Daily (DAILY_API_KEY) or a LiveKit server (LIVEKIT_URL).",
        });
      const made = await (await rooms()).createRoom(wanted);
      return { ...made, url: wanted.reachedAs ?? made.url };
    },
    async findRoom(token, { reachedAs } = {}) {
      if ((await grantedRoom(token, { apiKey, apiSecret })) === undefined) return undefined; // starts no server
      const found = await (await rooms()).findRoom(token);
      return found && { ...found, url: reachedAs ?? found.url };
    },
    issueToken: async (wanted) => (await rooms()).issueToken(wanted),
    deleteRoom: async (name) => (await rooms()).deleteRoom(name),
    [Symbol.asyncDispose]: async () => undefined,
  };
}
