import { Problem } from "../problem.ts";

/** What the service's own program says of network policies; there is none where bots are no containers. */
export interface NetworkPoliciesFacts {
  /** Regions whose bots are in different networks have one each. */
  networkPolicies: NetworkPolicyFacts[];
}

export interface NetworkPolicyFacts {
  networkPolicy: { network: string; bridge: string };
  table: string;
  rules: string;
  /** `up`, `down`, or why it cannot be seen. */
  state?: string;
}

export function requireNetworkPolicies({ networkPolicies }: NetworkPoliciesFacts): NetworkPolicyFacts[] {
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
