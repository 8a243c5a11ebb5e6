import type { CallRoom, ForwardCall, ReadyRoom } from "@vocalhost/rooms/providers";

/** Callers who are on hold at the provider until the room made for them is ready. */
export interface CallsOnHold {
  /** The same room; its call is forwarded once, whoever asks for it first. */
  hold(room: CallRoom): CallRoom;
  /** Forwards the call of a room that is ready now; of another there is nothing to do. */
  ready(room: ReadyRoom): Promise<void>;
}

export function createCallsOnHold(): CallsOnHold {
  const held = new Map<string, ForwardCall>();
  return {
    hold(room) {
      const { roomName, forwardCall, close } = room;
      if (!forwardCall) return room;
      let forwarding: Promise<void> | undefined;
      const once: ForwardCall = (sipUri) =>
        (forwarding ??= forwardCall(sipUri).catch((error: unknown) => {
          forwarding = undefined; // the room was not ready, say
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
