import type { Log } from "@vocalhost/base/log";
import { raiseWall, readWall, WallError } from "../network-policy/raise-wall.ts";
import type { Reach } from "../network-policy/reach.ts";
import { readResolvers } from "../network-policy/resolvers.ts";
import type { HostPort, Wall } from "../network-policy/wall-rules.ts";
import type { Engine } from "./engine.ts";

export interface WallOptions {
  mode: "auto" | "required" | "off";
  reach: Reach[];
}

const LOOK_AGAIN_MS = 30_000; // whoever reloads the firewall of this machine may not know of ours
const FIX = "As root: vocalhost wall up. Or load what vocalhost wall show prints: nft -f <file>";

/** What stands, or is to stand, around the bots of this network. */
export async function findWall(engine: Engine, options: { network: string; reach: Reach[] }): Promise<Wall> {
  const { network, reach } = options;
  const { name, gateways } = await engine.bridgeOf(network);
  if (name === undefined)
    throw new WallError(
      `The network ${network} has no bridge on this machine; only an engine that runs as root makes one`,
    );
  return { network, bridge: name, gateways, resolvers: await readResolvers(), reach };
}

export interface KeptWall extends Disposable {
  /** Ports of this machine that bots may reach from now on, besides what was configured. */
  open(ports: readonly HostPort[]): Promise<void>;
}

/** Raises the wall before there is a bot, and again whenever it is found to be gone. */
export async function keepWall(
  engine: Engine,
  { network, wall: options, log }: { network: string; wall: WallOptions; log: Log },
): Promise<KeptWall> {
  if (options.mode === "off") return noWall();
  let own: readonly HostPort[] = [];
  const find = async (): Promise<Wall> => ({ ...(await findWall(engine, { network, ...options })), own });
  const raise = async (): Promise<void> => raiseWall(await find());
  try {
    await raise();
    log.info({ network }, "bots are walled off from this machine, from private networks and from each other");
  } catch (error) {
    if (!(error instanceof WallError)) throw error;
    if (options.mode === "required")
      throw new WallError(`VOCALHOST_CONTAINER_WALL=required: ${error.message}`);
    log.warn({ reason: error.message, fix: FIX }, "bots in containers can reach this machine and each other");
    return noWall();
  }

  async function look(): Promise<void> {
    try {
      if ((await readWall(await find())) === "up") return;
      await raise();
      log.warn({ network }, "the wall around bots was gone or outdated, it is up again");
    } catch (error) {
      log.error({ err: error, network }, "the wall around bots cannot be looked after, will be retried");
    }
  }
  const timer = setInterval(() => void look(), LOOK_AGAIN_MS).unref();
  return {
    async open(ports) {
      if (JSON.stringify(ports) === JSON.stringify(own)) return;
      own = ports;
      await raise();
      log.info({ network, ports }, "bots may reach more of this machine");
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Nothing is closed, or somebody else sees to it. */
function noWall(): KeptWall {
  return { open: async () => undefined, [Symbol.dispose]: () => undefined };
}
