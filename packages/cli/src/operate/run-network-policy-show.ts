import type { CommandContext } from "../define-command.ts";
import type { OperateOptions } from "./operate-options.ts";
import { askProgram } from "./run-operation.ts";
import { requireNetworkPolicies, type NetworkPoliciesFacts } from "./network-policy-facts.ts";

/** `vocalhost network-policy show` */
export async function run(options: OperateOptions, { ui, isJson, signal }: CommandContext): Promise<number> {
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
