import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { runOperation } from "./run-operation.ts";
import { bridgesOf, requireNetworkPolicies, type NetworkPoliciesFacts } from "./network-policy-facts.ts";

/** `vocalhost network-policy down` */
export async function run(options: OperateOptions, context: CommandContext): Promise<number> {
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
