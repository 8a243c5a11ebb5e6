import type { V1Pod } from "@kubernetes/client-node";
import type { Log } from "@vocalhost/base/log";
import { isKind } from "./cluster-error.ts";
import type { Cluster } from "./cluster.ts";
import { labels, SAFE_TO_EVICT, type Names, type PodUse } from "./names.ts";

/** Labels every pod with whether it has a call, so that its node is not drained during the call. */
export interface PodUses {
  /** Makes the disruption budget that protects pods with a call, if it is missing. */
  ensureBudget(): Promise<void>;
  /** Changes labels that are wrong, a few at a time. */
  settle(pods: Iterable<V1Pod>, busy: ReadonlySet<string>): void;
}

export interface PodUsesOptions {
  cluster: Cluster;
  names: Names;
  log: Log;
  changed(pod: V1Pod): void;
}

const AT_ONCE = 16;
const MERGE = "application/merge-patch+json";
// A budget can only count pods without a controller. With a minimum above any number of pods none may be evicted.
const NONE_TO_SPARE = 2_147_483_647;

export function createPodUses({ cluster, names, log, changed }: PodUsesOptions): PodUses {
  const changing = new Set<string>();

  async function change(name: string, use: PodUse): Promise<void> {
    const metadata = {
      labels: { [labels.state]: use },
      annotations: { [SAFE_TO_EVICT]: String(use === "idle") },
    };
    const call = { what: "label a pod", path: `pods/${name}`, contentType: MERGE, body: { metadata } };
    changed(await cluster.ask<V1Pod>({ ...call, method: "PATCH" }));
  }

  return {
    async ensureBudget() {
      const body = {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: {
          name: names.budget,
          labels: { [labels.service]: names.service, [labels.kind]: "budget" },
        },
        spec: {
          minAvailable: NONE_TO_SPARE,
          selector: { matchLabels: { [labels.service]: names.service, [labels.state]: "busy" } },
        },
      };
      const call = {
        what: "make a disruption budget",
        group: "policy/v1",
        path: "poddisruptionbudgets",
        body,
      };
      await cluster.ask({ ...call, method: "POST" }).catch((error: unknown) => {
        if (!isKind(error, "taken"))
          log.warn({ err: error }, "calls are not protected from evictions: there is no disruption budget");
      });
    },
    settle(pods, busy) {
      for (const { metadata } of pods) {
        const name = metadata?.name ?? "";
        const use: PodUse = busy.has(metadata?.labels?.[labels.instance] ?? "") ? "busy" : "idle";
        if (metadata?.labels?.[labels.state] === use || metadata?.deletionTimestamp !== undefined) continue;
        if (changing.has(name) || changing.size >= AT_ONCE) continue; // the next call changes it
        changing.add(name);
        void change(name, use)
          .catch((error: unknown) => {
            if (!isKind(error, "missing"))
              log.warn({ err: error, pod: name }, "a pod does not say whether it has a call");
          })
          .finally(() => changing.delete(name));
      }
    },
  };
}
