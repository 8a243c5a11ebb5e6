import { AppError } from "@vocalhost/protocol";
import type { V1ConfigMap } from "@kubernetes/client-node";
import { ClusterError, isKind } from "./cluster-error.ts";
import type { Cluster } from "./cluster.ts";
import { labels, type Names } from "./names.ts";

/** Keeps a controller that has lost the leadership without noticing from making or ending instances. */
export interface ClusterFence {
  /** Until it resolves, `check` rejects, because an older leader may still make instances. */
  raise(epoch: number): Promise<void>;
  newest(): Promise<number>;
  /** Rejects when a newer leader has raised the fence. */
  check(): Promise<void>;
}

const RACES_MAX = 10;

export function createClusterFence(cluster: Cluster, names: Names): ClusterFence {
  const path = `configmaps/${names.fence}`;
  let ours = 0;
  let isRaised = true;

  async function read(): Promise<V1ConfigMap | undefined> {
    try {
      return await cluster.ask<V1ConfigMap>({ what: "read the leader's epoch", path });
    } catch (error) {
      if (isKind(error, "missing")) return undefined; // no controller has led yet
      throw error;
    }
  }

  async function write(epoch: number, found: V1ConfigMap | undefined): Promise<void> {
    const body: V1ConfigMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: names.fence,
        labels: { [labels.service]: names.service, [labels.kind]: "fence" },
        // Without it the last write would win.
        ...(found?.metadata?.resourceVersion ? { resourceVersion: found.metadata.resourceVersion } : {}),
      },
      data: { epoch: String(epoch) },
    };
    const what = "write the leader's epoch";
    await cluster.ask(
      found ? { what, method: "PUT", path, body } : { what, method: "POST", path: "configmaps", body },
    );
  }

  return {
    newest: async () => epochIn(await read()),
    async check() {
      if (!isRaised) throw new ClusterError("busy", "The cluster does not know yet which controller leads");
      if (epochIn(await read()) > ours) throw new AppError("EPOCH_STALE");
    },
    async raise(epoch) {
      isRaised &&= epoch === ours;
      ours = epoch;
      for (let races = 0; ; races++) {
        const found = await read();
        if (epochIn(found) > epoch) throw new AppError("EPOCH_STALE");
        try {
          await write(epoch, found);
          isRaised = true;
          return;
        } catch (error) {
          if (!isKind(error, "conflict", "taken") || races === RACES_MAX) throw error;
        }
      }
    },
  };
}

function epochIn(found: V1ConfigMap | undefined): number {
  return Number(found?.data?.["epoch"] ?? 0) || 0;
}
