import type { TransportName } from "@vocalhost/protocol";
import type { SessionDoor } from "./door.ts";
import { roomDoor } from "./room.ts";
import { socketDoor } from "./socket.ts";
import { webrtcDoor } from "./webrtc.ts";

const DOORS: readonly SessionDoor[] = [webrtcDoor, roomDoor, socketDoor];

export function doorOf(transport: TransportName): SessionDoor {
  const door = DOORS.find(({ names }) => names.includes(transport));
  if (!door) throw new TypeError(`No door answers to ${transport}`);
  return door;
}
