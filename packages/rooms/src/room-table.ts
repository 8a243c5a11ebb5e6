import { DisconnectReason, LeaveRequest_Action } from "@livekit/protocol";
import type { Log } from "./log.ts";
import type { MediaCommand } from "./media/messages.ts";
import type { Participant } from "./participant.ts";
import { createRoom, type Room } from "./room.ts";
import type { RoomSettings } from "./settings.ts";

/** Every room of this server, and where to find a participant the media process speaks of. */
export interface RoomTable {
  readonly settings: RoomSettings;
  /** By name. */
  readonly rooms: ReadonlyMap<string, Room>;
  /** The room of that name; opened if there is none. */
  open(name: string): Room;
  /** Removes all participants. If deleted rooms are kept closed, older tokens are refused afterwards. */
  delete(name: string): void;
  /** Unix seconds; undefined when it never was, too long ago for any token, or does not matter. */
  deletedAtS(name: string): number | undefined;
  /** Makes all participants connect anew after the media process was lost. The rooms stay. */
  reconnectAll(): void;
  close(reason: DisconnectReason): void;
}

interface RoomTableOptions {
  settings: RoomSettings;
  log: Log;
  media(command: MediaCommand): void;
  left(participant: Participant): void;
}

export function createRoomTable(options: RoomTableOptions): RoomTable {
  const rooms = new Map<string, Room>();
  const deleted = createDeletedRooms();
  return {
    settings: options.settings,
    rooms,
    open(name) {
      const known = rooms.get(name);
      if (known) return known;
      const room = createRoom({
        name,
        settings: options.settings,
        log: options.log,
        media: options.media,
        left: options.left,
        closed: () => rooms.delete(name),
      });
      rooms.set(name, room);
      return room;
    },
    delete(name) {
      if (options.settings.keepsDeletedClosed) deleted.add(name);
      rooms.get(name)?.close(DisconnectReason.ROOM_DELETED);
    },
    deletedAtS: (name) => deleted.atS(name),
    reconnectAll() {
      const departure = { reason: DisconnectReason.MEDIA_FAILURE, tell: LeaveRequest_Action.RECONNECT };
      for (const room of rooms.values())
        for (const participant of [...room.participants.values()]) room.remove(participant, departure);
    },
    close(reason) {
      for (const room of [...rooms.values()]) room.close(reason);
    },
  };
}

/** When rooms were deleted, for as long as tokens from before may be valid. */
interface DeletedRooms {
  add(name: string): void;
  /** Unix seconds. */
  atS(name: string): number | undefined;
}

const KEPT_S = 6 * 3_600; // as long as tokens are valid that do not say how long
const KEPT_MAX = 50_000;

export function createDeletedRooms(nowMs: () => number = Date.now): DeletedRooms {
  const rooms = new Map<string, number>(); // oldest first
  return {
    add(name) {
      const nowS = Math.trunc(nowMs() / 1000);
      rooms.delete(name);
      rooms.set(name, nowS);
      for (const [known, atS] of rooms) {
        if (rooms.size <= KEPT_MAX && atS > nowS - KEPT_S) break;
        rooms.delete(known);
      }
    },
    atS: (name) => rooms.get(name),
  };
}
