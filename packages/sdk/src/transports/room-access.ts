import { AppError, type Invitation } from "@vocalhost/protocol";
import type { RoomArguments } from "../bot/runner-arguments.ts";

/** Data of a session in a room that the bot does not see. */
export interface RoomAccess {
  invitations: Invitations;
  /** How long the bot waits for the first person; undefined: as long as the session lasts. */
  connectDeadlineMs: number | undefined;
  /** SIP trunk for calling phones into the room. */
  sipTrunk: string | undefined;
  /** Whether it represents a person, such as a caller, and does not appear as a bot to others. */
  isStandIn: boolean;
}

/** Tokens for further participants; each is given out once. */
export interface Invitations {
  next(): Invitation;
}

export function createInvitations(clientUrl: string, guestTokens: readonly string[]): Invitations {
  const left = [...guestTokens];
  return {
    next() {
      const token = left.shift();
      if (token === undefined)
        throw new AppError("ROOM_REFUSED", {
          message:
            guestTokens.length === 0
              ? "This session cannot invite participants: its room belongs to Daily, a caller or another session"
              : `All ${guestTokens.length} invitations of this session are given away`,
        });
      return { roomUrl: clientUrl, url: clientUrl, token };
    },
  };
}

const accessOfArguments = new WeakMap<RoomArguments, RoomAccess>();

export function setRoomAccess(args: RoomArguments, access: RoomAccess): void {
  accessOfArguments.set(args, access);
}

export function roomAccessOf(args: RoomArguments): RoomAccess {
  const access = accessOfArguments.get(args);
  if (!access) throw new TypeError("createTransport() needs the arguments object that bot() was given");
  return access;
}
