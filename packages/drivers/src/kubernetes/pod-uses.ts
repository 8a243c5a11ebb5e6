import type { V1Pod } from "@kubernetes/client-node";
import type { Log } from "@vocalhost/base/log";
import { isKind } from "./cluster-error.ts";
import type { Cluster } from "./cluster.ts";
import { labels, SAFE_TO_EVICT, type Names, type PodUse } from "./names.ts";

/** Has every pod say whether it has a call, so that nobody drains its node under it. */
export interface PodUses {
  /** Makes the budget that protects those with a call, if it is missing. */
  ensureBudget(): Promise<void>;
  /** Changes what is not as it should be, a few at a time. */
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
// Pods without a controller can only be counted. More than there can be: none of them may be evicted.
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
        if (changing.has(name) || changing.size >= AT_ONCE) continue; // the next look sees to it
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
