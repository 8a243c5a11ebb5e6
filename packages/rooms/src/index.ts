// The server
export { startRoomServer, type NewRoom, type RoomServer } from "./room-server.ts";
export type {
  IceServerSetting,
  ListenAddress,
  MediaOptions,
  RoomLimits,
  RoomServerOptions,
  RoomTiming,
} from "./settings.ts";
export type { Log } from "./log.ts";

// Access tokens
export { signToken, type SignedToken, type TokenKey, type VideoGrant } from "./tokens.ts";
