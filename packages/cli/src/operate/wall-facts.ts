import { Problem } from "../problem.ts";

/** What the service's own program says of the wall; `wall` is null where bots are no containers. */
export interface WallFacts {
  wall: { network: string; bridge: string } | null;
  table?: string;
  rules?: string;
  /** `up`, `down`, or why it cannot be seen. */
  state?: string;
}

export function requireWall(facts: WallFacts): Required<Pick<WallFacts, "table" | "rules">> & {
  wall: { network: string; bridge: string };
} {
  const { wall, table = "", rules = "" } = facts;
  if (wall) return { wall, table, rules };
  throw new Problem("no_wall", "The service runs bots as processes, and there is no wall around processes", {
    fixes: ["Run them in containers: VOCALHOST_DRIVER=container (docs/hosted/isolation.md)"],
  });
}
