import type { OperateOptions } from "../operate/operate-options.ts";
import { askProgram } from "../operate/run-operation.ts";
import { containerSettings } from "./container-settings.ts";
import { bridgesOf, type WallsFacts } from "../operate/wall-facts.ts";
import { ok, reasonOf, skipped, warning, type Hop } from "./hop.ts";

/** Whether bots in containers are kept from this machine. */
export async function checkWall(
  options: OperateOptions,
  environment: Record<string, string | undefined>,
  signal: AbortSignal,
): Promise<Hop> {
  const { VOCALHOST_CONFIG: file = options.settings } = environment;
  if (!containerSettings(environment) && !file) return describeWalls({ walls: [] });
  try {
    return describeWalls(await askProgram<WallsFacts>({ words: ["wall", "state"], options }, { signal }));
  } catch (error) {
    signal.throwIfAborted();
    return skipped("wall", reasonOf(error));
  }
}

export function describeWalls({ walls }: WallsFacts): Hop {
  if (walls.length === 0) return skipped("wall", "bots run as processes, which no wall is around");
  const down = walls.filter(({ state }) => state === "down");
  if (down.length > 0)
    return warning(
      "wall",
      `bots behind ${bridgesOf(down)} reach this machine, private networks and each other`,
      "As root: vocalhost wall up",
      "Or load the rules yourself: vocalhost wall show | sudo nft -f -",
      "and: sudo sysctl -w net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1",
    );
  const unseen = walls.filter(({ state }) => state !== "up");
  const [first] = unseen;
  if (first)
    return warning(
      "wall",
      `whether bots behind ${bridgesOf(unseen)} are kept from this machine cannot be seen: ${first.state}`,
      `As root: vocalhost doctor, or nft list table inet ${first.table}. It should have what vocalhost wall show prints.`,
    );
  return ok(
    "wall",
    `bots behind ${bridgesOf(walls)} reach the internet, and nothing of this machine or each other`,
  );
}
