import { Problem } from "../problem.ts";

/** What the service's own program says of the walls; there is none where bots are no containers. */
export interface WallsFacts {
  /** Regions whose bots are in different networks have one each. */
  walls: WallFacts[];
}

export interface WallFacts {
  wall: { network: string; bridge: string };
  table: string;
  rules: string;
  /** `up`, `down`, or why it cannot be seen. */
  state?: string;
}

export function requireWalls({ walls }: WallsFacts): WallFacts[] {
  if (walls.length > 0) return walls;
  throw new Problem("no_wall", "The service runs bots as processes, and there is no wall around processes", {
    fixes: ["Run them in containers: VOCALHOST_DRIVER=container (docs/hosted/isolation.md)"],
  });
}

/** The interfaces that bots are behind. */
export function bridgesOf(walls: WallFacts[]): string {
  return walls.map(({ wall }) => wall.bridge).join(" and ");
}
