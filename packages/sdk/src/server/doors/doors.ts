import type { Connect, TransportName } from "@vocalhost/protocol";
import type { Session } from "../session.ts";
import { carrierDoor } from "./carrier.ts";
import type { Door, SessionHost } from "./door.ts";
import { roomDoor } from "./room.ts";
import { webrtcDoor } from "./webrtc.ts";
import { websocketDoor } from "./websocket.ts";

/** All doors. Runner and instance mount the same ones. */
export const doors: readonly Door[] = [webrtcDoor, websocketDoor, roomDoor, carrierDoor];

export function doorOf(transport: TransportName): Door {
  const door = doors.find(({ names }) => names.includes(transport));
  if (!door) throw new TypeError(`No door answers to ${transport}`);
  return door;
}

/** Adds the routes of all doors whose transports the server accepts. */
export function mountDoors(server: SessionHost): void {
  for (const door of taken(server)) door.mount(server);
}

/** Adds those routes, and the ones that create a session for clients without one. */
export function mountOpenDoors(server: SessionHost): void {
  for (const door of taken(server)) door.mountOpen?.(server);
  mountDoors(server);
}

/** Passes a session that a controller has started to its door. */
export function beginSession(server: SessionHost, session: Session, connect: Connect): void {
  doorOf(session.transport)
    .begin?.(server, session, connect)
    .catch((error: unknown) => {
      session.log.error({ err: error }, "beginning the session failed");
      void session.end("never-connected");
    });
}

function taken({ transports }: SessionHost): Door[] {
  return doors.filter(({ names }) => names.some((name) => transports.includes(name)));
}
