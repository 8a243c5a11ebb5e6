import {
  createOwnServerRooms,
  createRoomProviders,
  makeSessionRoom,
  roomAnswer,
  type ProvidersConfig,
} from "@vocalhost/rooms/providers";
import type { Log } from "../log.ts";
import type { SessionRooms } from "../sessions/doors/door.ts";

export const ROOMS_API_KEY = "vocalhost";

export interface OpenRoomsOptions {
  config: ProvidersConfig;
  /** Of our own room server. */
  apiSecret: string;
  openServer(): Promise<string>;
  log: Log;
}

/** Rooms of the service: its own server's, a LiveKit server's, or Daily's. */
export function openRooms({ config, apiSecret, openServer, log }: OpenRoomsOptions): SessionRooms {
  const embedded = createOwnServerRooms({ apiKey: ROOMS_API_KEY, apiSecret, open: openServer });
  const providers = createRoomProviders(config, { embedded, log });
  return {
    async make(wanted) {
      const room = await makeSessionRoom(providers, wanted);
      const { provider, roomName, botRoomUrl: roomUrl, botToken: token, guestTokens } = room;
      return {
        connect: { kind: "room", provider, roomName, roomUrl, clientUrl: room.roomUrl, token, guestTokens },
        answer: (sessionId) => roomAnswer(room, sessionId),
        close: room.close,
      };
    },
  };
}
