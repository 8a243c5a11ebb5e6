import type { CommandContext } from "../define-command.ts";
import { Problem } from "../problem.ts";
import type { OperateOptions } from "./operate-options.ts";
import { askProgram, runOperation } from "./operations.ts";

/** `vocalhost network-policy show` */
export async function show(options: OperateOptions, { ui, isJson, signal }: CommandContext): Promise<number> {
  const networkPolicies = requireNetworkPolicies(
    await askProgram<NetworkPoliciesFacts>({ words: ["network-policy", "show"], options }, { signal }),
  );
  ui.print(
    isJson
      ? JSON.stringify({ ok: true, networkPolicies })
      : networkPolicies.map(({ rules }) => rules.trimEnd()).join("\n\n"),
  );
  return 0;
}

/** `vocalhost network-policy up` */
export async function up(options: OperateOptions, context: CommandContext): Promise<number> {
  const networkPolicies = requireNetworkPolicies(
    await runOperation<NetworkPoliciesFacts>(
      { words: ["network-policy", "up"], options, title: "Applying the network policy" },
      context,
    ),
  );
  context.ui.print(
    context.isJson
      ? JSON.stringify({
          ok: true,
          networkPolicies: networkPolicies.map(({ networkPolicy, table }) => ({ ...networkPolicy, table })),
        })
      : `Bots behind ${bridgesOf(networkPolicies)} reach the internet, and neither this machine, nor private networks, nor each other.\n` +
          networkPolicies.map(({ table }) => `See the rules: nft list table inet ${table}`).join("\n"),
  );
  return 0;
}

/** `vocalhost network-policy down` */
export async function down(options: OperateOptions, context: CommandContext): Promise<number> {
  const networkPolicies = requireNetworkPolicies(
    await runOperation<NetworkPoliciesFacts>(
      { words: ["network-policy", "down"], options, title: "Removing the network policy" },
      context,
    ),
  );
  context.ui.print(
    context.isJson
      ? JSON.stringify({
          ok: true,
          networkPolicies: networkPolicies.map(({ networkPolicy, table }) => ({ ...networkPolicy, table })),
        })
      : `Bots behind ${bridgesOf(networkPolicies)} now reach this machine and each other.`,
  );
  return 0;
}

/** The answer of the service's own program about network policies; bots outside containers have none. */
export interface NetworkPoliciesFacts {
  /** Regions whose bots are in different networks have one each. */
  networkPolicies: NetworkPolicyFacts[];
}

interface NetworkPolicyFacts {
  networkPolicy: { network: string; bridge: string };
  table: string;
  rules: string;
  /** `up`, `down`, or why it cannot be seen. */
  state?: string;
}

function requireNetworkPolicies({ networkPolicies }: NetworkPoliciesFacts): NetworkPolicyFacts[] {
  if (networkPolicies.length > 0) return networkPolicies;
  throw new Problem(
    "no_network_policy",
    "The service runs bots as processes, and processes have no network policy",
    {
      fixes: ["Run them in containers: VOCALHOST_DRIVER=container (docs/hosted/isolation.md)"],
    },
  );
}

/** The interfaces that bots are behind. */
export function bridgesOf(networkPolicies: NetworkPolicyFacts[]): string {
  return networkPolicies.map(({ networkPolicy }) => networkPolicy.bridge).join(" and ");
}
