import type { OperateOptions } from "../operate/operate-options.ts";
import { askProgram } from "../operate/run-operation.ts";
import { containerSettings } from "./container-settings.ts";
import { bridgesOf, type NetworkPoliciesFacts } from "../operate/network-policy-facts.ts";
import { ok, reasonOf, skipped, warning, type Hop } from "./hop.ts";

/** Whether bots in containers are kept from this machine. */
export async function checkNetworkPolicy(
  options: OperateOptions,
  environment: Record<string, string | undefined>,
  signal: AbortSignal,
): Promise<Hop> {
  const { VOCALHOST_CONFIG: file = options.settings } = environment;
  if (!containerSettings(environment) && !file) return describeNetworkPolicies({ networkPolicies: [] });
  try {
    return describeNetworkPolicies(
      await askProgram<NetworkPoliciesFacts>({ words: ["network-policy", "state"], options }, { signal }),
    );
  } catch (error) {
    signal.throwIfAborted();
    return skipped("network-policy", reasonOf(error));
  }
}

export function describeNetworkPolicies({ networkPolicies }: NetworkPoliciesFacts): Hop {
  if (networkPolicies.length === 0)
    return skipped("network-policy", "bots run as processes, which have no network policy");
  const down = networkPolicies.filter(({ state }) => state === "down");
  if (down.length > 0)
    return warning(
      "network-policy",
      `bots behind ${bridgesOf(down)} reach this machine, private networks and each other`,
      "As root: vocalhost network-policy up",
      "Or load the rules yourself: vocalhost network-policy show | sudo nft -f -",
      "and: sudo sysctl -w net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1",
    );
  const unseen = networkPolicies.filter(({ state }) => state !== "up");
  const [first] = unseen;
  if (first)
    return warning(
      "network-policy",
      `whether bots behind ${bridgesOf(unseen)} are kept from this machine cannot be seen: ${first.state}`,
      `As root: vocalhost doctor, or nft list table inet ${first.table}. It should have what vocalhost network-policy show prints.`,
    );
  return ok(
    "network-policy",
    `bots behind ${bridgesOf(networkPolicies)} reach the internet, and nothing of this machine or each other`,
  );
}
