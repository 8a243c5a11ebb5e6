import type { SessionRooms } from "../../sessions/doors/door.ts";
import type { OpenRoomsOptions } from "./open-rooms.ts";

/** Loads what makes rooms with the first of them: most services have none. */
export function openRoomsLater(options: OpenRoomsOptions): SessionRooms {
  let opening: Promise<SessionRooms> | undefined;
  const open = (): Promise<SessionRooms> =>
    (opening ??= import("./open-rooms.ts").then(({ openRooms }) => openRooms(options)));
  return {
    require: async (requested) => (await open()).require(requested),
    make: async (wanted) => (await open()).make(wanted),
    readCall: async (told) => (await open()).readCall(told),
    readReady: async (told) => (await open()).readReady(told),
    forwardCall: async (call) => (await open()).forwardCall(call),
    close: async (provider, roomName) => (await open()).close(provider, roomName),
  };
}
