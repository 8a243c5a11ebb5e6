import type { IceServer } from "@vocalhost/protocol";
import { mintTurnServer, type TurnConfig } from "@vocalhost/rooms/turn";
import type { Clock } from "@vocalhost/base/clock";
import type { SessionRow } from "@vocalhost/store/schema";
import type { Timing } from "@vocalhost/base/timing";
import type { DoorContext } from "./door.ts";

export interface IceServersOptions {
  iceServers: IceServer[];
  turn: TurnConfig | undefined;
  clock: Pick<Clock, "nowMs">;
  timing: Pick<Timing, "connectDeadlineMs">;
}

const SPARE_MS = 5 * 60_000; // for a TURN server whose clock is ahead, and for the last words

/** The service's STUN and TURN servers. Credentials outlast the session: a relay ends with what it was given for. */
export function createIceServers(options: IceServersOptions): DoorContext["iceServersOf"] {
  const { turn, clock, timing } = options;
  const iceServers = options.iceServers.map(withoutEmpty);
  return ({ id, maxDurationMs }: SessionRow) => {
    if (!turn) return iceServers;
    const validForMs = maxDurationMs + timing.connectDeadlineMs + SPARE_MS;
    return [...iceServers, mintTurnServer(turn, { nowMs: clock.nowMs(), validForMs, user: id })];
  };
}

function withoutEmpty({ urls, username, credential }: IceServer): IceServer {
  return { urls, ...(username ? { username } : {}), ...(credential ? { credential } : {}) };
}
