// Room providers. Loads no room server and no SDK until a room is made.
export type { ProvidersConfig } from "./config.ts";
export { createDailyRooms, type DailyConfig, type DailyRooms } from "./daily.ts";
export { createEmbeddedRooms, type EmbeddedRooms, type EmbeddedRoomsOptions } from "./embedded.ts";
export { createLiveKitRooms, type LiveKitConfig } from "./livekit.ts";
export { createOwnServerRooms, type OwnServerOptions } from "./own-server.ts";
export {
  readDailyCall,
  readDailyReady,
  readLiveKitCall,
  type CallRoom,
  type ForwardCall,
  type IncomingCall,
  type ReadyRoom,
  type ToldCall,
} from "./dial-in.ts";
export { joinSessionRoom, type RoomToJoin } from "./join-room.ts";
export type { MadeRoom, RoomProvider, WantedRoom, WantedToken } from "./room-provider.ts";
export { createRoomProviders, type RoomProviders } from "./room-providers.ts";
export { makeSessionRoom, roomAnswer, type SessionRoom, type WantedSessionRoom } from "./session-room.ts";
