import { AppError, type Invitation } from "@vocalhost/protocol";
import type { RoomArguments } from "../bot/runner-arguments.ts";

/** What a session in a room has beside what its bot sees. */
export interface RoomAccess {
  invitations: Invitations;
  /** How long the bot waits for somebody to talk with; undefined for as long as its session lasts. */
  connectDeadlineMs: number | undefined;
  /** Over which somebody can be called into the room. */
  sipTrunk: string | undefined;
  /** It is there in place of somebody, a caller for instance, and no bot in the eyes of others. */
  isStandIn: boolean;
}

/** Tokens for those who may still come; each is given away once. */
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
              ? "This session can invite nobody: its room is Daily's, a caller's or another session's"
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
  if (!access) throw new TypeError("createTransport() wants the arguments object that bot() was given");
  return access;
}
