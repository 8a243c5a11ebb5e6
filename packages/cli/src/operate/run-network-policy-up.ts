import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { runOperation } from "./run-operation.ts";
import { bridgesOf, requireNetworkPolicies, type NetworkPoliciesFacts } from "./network-policy-facts.ts";

/** `vocalhost network-policy up` */
export async function run(options: OperateOptions, context: CommandContext): Promise<number> {
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
