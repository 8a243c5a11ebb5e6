import type { IceServer } from "@vocalhost/protocol";
import { mintTurnServer, type TurnConfig } from "@vocalhost/rooms/turn";

export { readTurnConfig, type TurnConfig } from "@vocalhost/rooms/turn";

const VALID_MS = 24 * 3_600_000; // the runner's sessions have no maximum length

/** Returns ICE servers for one call, with credentials of its own. */
export function iceServersOf({
  iceServers,
  turn,
}: {
  iceServers: IceServer[];
  turn: TurnConfig | undefined;
}): IceServer[] {
  if (!turn) return iceServers;
  return [...iceServers, mintTurnServer(turn, { nowMs: Date.now(), validForMs: VALID_MS })];
}
