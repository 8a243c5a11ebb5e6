import type { ContainerConfig } from "./container/container-config.ts";
import type { KubernetesConfig } from "./kubernetes/kubernetes-config.ts";
import type { Reach } from "./network-policy/reach.ts";

/** How instances are made, and what that way of making them needs to know. */
export type DriverConfig =
  | { kind: "process"; folder: string; compileCache: string | undefined }
  | (ContainerConfig & {
      /** Whether bots are kept from this machine and from private networks. */
      networkPolicy: NetworkPolicyMode;
      /** What is reached through it all the same. */
      reach: Reach[];
    })
  | KubernetesConfig;

/** `auto`: where the service may; `required`: or it does not start; `off`: the operator's own network sees to it. */
export type NetworkPolicyMode = (typeof NETWORK_POLICY_MODES)[number];
export const NETWORK_POLICY_MODES = ["auto", "required", "off"] as const;
