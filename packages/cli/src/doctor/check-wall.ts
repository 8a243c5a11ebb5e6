import type { OperateOptions } from "../operate/operate-options.ts";
import { askProgram } from "../operate/run-operation.ts";
import type { WallFacts } from "../operate/wall-facts.ts";
import { ok, reasonOf, skipped, warning, type Hop } from "./hop.ts";

/** Whether bots in containers are kept from this machine. */
export async function checkWall(
  options: OperateOptions,
  environment: Record<string, string | undefined>,
  signal: AbortSignal,
): Promise<Hop> {
  const { VOCALHOST_DRIVER: driver, VOCALHOST_CONFIG: file = options.settings } = environment;
  if (driver !== "container" && !file) return describeWall({ wall: null });
  try {
    return describeWall(await askProgram<WallFacts>({ words: ["wall", "state"], options }, { signal }));
  } catch (error) {
    signal.throwIfAborted();
    return skipped("wall", reasonOf(error));
  }
}

export function describeWall({ wall, table = "", state }: WallFacts): Hop {
  if (!wall) return skipped("wall", "bots run as processes, which no wall is around");
  const { bridge } = wall;
  if (state === "up")
    return ok("wall", `bots behind ${bridge} reach the internet, and nothing of this machine or each other`);
  if (state === "down")
    return warning(
      "wall",
      `bots behind ${bridge} reach this machine, private networks and each other`,
      "As root: vocalhost wall up",
      "Or load the rules yourself: vocalhost wall show | sudo nft -f -",
      "and: sudo sysctl -w net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1",
    );
  return warning(
    "wall",
    `whether bots behind ${bridge} are kept from this machine cannot be seen: ${state}`,
    `As root: vocalhost doctor, or nft list table inet ${table}. It should have what vocalhost wall show prints.`,
  );
}
