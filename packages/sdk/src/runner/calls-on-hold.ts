/** Callers who are on hold at the provider until the room made for them is ready. */
export interface CallsOnHold {
  /** The same room; its call is forwarded once, whoever asks for it first. */
  hold<R extends HeldRoom>(room: R): R;
  /** Forwards the call of a room that is ready now; of another there is nothing to do. */
  ready(room: { roomName: string; sipUri: string }): Promise<void>;
}

export interface HeldRoom {
  roomName: string;
  /** Undefined when nobody is on hold. */
  forwardCall: ForwardCall | undefined;
  close(): Promise<void>;
}

type ForwardCall = (sipUri?: string) => Promise<void>;

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
