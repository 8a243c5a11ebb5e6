import { readCarrierAccounts } from "@vocalhost/protocol";
import type { Config } from "../config.ts";
import type { DeployingOptions } from "../../agents/deployments/deploying.ts";
import type { SessionDialling } from "../../sessions/doors/door.ts";

/** Agents call with the accounts in their own secrets, at addresses that only the operator may change. */
export function createDialling(
  { takesPublicDialout, carrierAddresses }: Pick<Config, "takesPublicDialout" | "carrierAddresses">,
  secretsOf: DeployingOptions["secretsOf"],
): SessionDialling {
  return {
    takesPublicKeys: takesPublicDialout,
    async accountsOf(organizationId, { secretSet, secretVersion }) {
      const secrets =
        secretSet === null || secretVersion === null
          ? {}
          : await secretsOf(organizationId, secretSet, secretVersion);
      return readCarrierAccounts(secrets, carrierAddresses);
    },
  };
}
