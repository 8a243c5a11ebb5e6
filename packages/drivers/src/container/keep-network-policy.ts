import type { Log } from "@vocalhost/base/log";
import { applyNetworkPolicy, readNetworkPolicy, NetworkPolicyError } from "../network-policy/apply-rules.ts";
import type { Reach } from "../network-policy/reach.ts";
import { readResolvers } from "../network-policy/resolvers.ts";
import type { HostPort, NetworkPolicy } from "../network-policy/rules.ts";
import type { Engine } from "./engine.ts";

export interface NetworkPolicyOptions {
  mode: "auto" | "required" | "off";
  reach: Reach[];
}

const LOOK_AGAIN_MS = 30_000; // a reload of this machine's firewall may remove the rules
const FIX =
  "As root: vocalhost network-policy up. Or load what vocalhost network-policy show prints: nft -f <file>";

/** Returns the network policy for the bots of this network. */
export async function findNetworkPolicy(
  engine: Engine,
  options: { network: string; reach: Reach[] },
): Promise<NetworkPolicy> {
  const { network, reach } = options;
  const { name, gateways } = await engine.bridgeOf(network);
  if (name === undefined)
    throw new NetworkPolicyError(
      `The network ${network} has no bridge on this machine; only an engine that runs as root makes one`,
    );
  return { network, bridge: name, gateways, resolvers: await readResolvers(), reach };
}

export interface KeptNetworkPolicy extends Disposable {
  /** Ports of this machine that bots may reach from now on, besides what was configured. */
  open(ports: readonly HostPort[]): Promise<void>;
}

/** Applies the network policy before there is a bot, and again whenever it is found to be gone. */
export async function keepNetworkPolicy(
  engine: Engine,
  {
    network,
    networkPolicy: options,
    log,
  }: { network: string; networkPolicy: NetworkPolicyOptions; log: Log },
): Promise<KeptNetworkPolicy> {
  if (options.mode === "off") return noNetworkPolicy();
  let own: readonly HostPort[] = [];
  const find = async (): Promise<NetworkPolicy> => ({
    ...(await findNetworkPolicy(engine, { network, ...options })),
    own,
  });
  const raise = async (): Promise<void> => applyNetworkPolicy(await find());
  try {
    await raise();
    log.info({ network }, "bots are kept from this machine, from private networks and from each other");
  } catch (error) {
    if (!(error instanceof NetworkPolicyError)) throw error;
    if (options.mode === "required")
      throw new NetworkPolicyError(`VOCALHOST_CONTAINER_NETWORK_POLICY=required: ${error.message}`);
    log.warn({ reason: error.message, fix: FIX }, "bots in containers can reach this machine and each other");
    return noNetworkPolicy();
  }

  async function look(): Promise<void> {
    try {
      if ((await readNetworkPolicy(await find())) === "up") return;
      await raise();
      log.warn({ network }, "the network policy of bots was gone or outdated, it is up again");
    } catch (error) {
      log.error(
        { err: error, network },
        "the network policy of bots cannot be looked after, will be retried",
      );
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

/** Used without a policy, and where the operator's network has one. */
function noNetworkPolicy(): KeptNetworkPolicy {
  return { open: async () => undefined, [Symbol.dispose]: () => undefined };
}
