import { parseSpec } from "../deployments/deployment-spec.ts";
import type { DeploymentPhase } from "../store/schema.ts";
import type { Store } from "../store/store.ts";

/** A deployment being made may still pin a version that was current a moment ago. */
const KEPT_MS = 3_600_000;
const livingPhases: DeploymentPhase[] = ["Creating", "Validating", "Active", "Draining"];

/** Forgets versions that no instance can ask for any more. Answers how many. */
export async function pruneSecretVersions(store: Store, { nowMs }: { nowMs: number }): Promise<number> {
  const pinned = await pinnedVersions(store);
  const versions = await store.db
    .selectFrom("secretVersions")
    .innerJoin("secretSets", "secretSets.id", "secretVersions.setId")
    .select([
      "secretVersions.setId",
      "secretVersions.version",
      "secretSets.organizationId",
      "secretSets.name",
    ])
    .whereRef("secretVersions.version", "<", "secretSets.currentVersion")
    .where("secretSets.updatedAt", "<=", nowMs - KEPT_MS)
    .execute();
  const unused = versions.filter((row) => !pinned.has(pinOf(row)));
  for (const { setId, version } of unused) {
    await store.transaction(async (tx) => {
      await tx.deleteFrom("secretValues").where("setId", "=", setId).where("version", "=", version).execute();
      await tx
        .deleteFrom("secretVersions")
        .where("setId", "=", setId)
        .where("version", "=", version)
        .execute();
    });
  }
  return unused.length;
}

async function pinnedVersions(store: Store): Promise<Set<string>> {
  const deployments = await store.db
    .selectFrom("deployments")
    .select(["organizationId", "spec"])
    .where("phase", "in", livingPhases)
    .execute();
  return new Set(
    deployments.map(({ organizationId, spec }) => {
      const { secretSet, secretVersion } = parseSpec(spec);
      return pinOf({ organizationId, name: secretSet ?? "", version: secretVersion ?? 0 });
    }),
  );
}

function pinOf(pin: { organizationId: string; name: string; version: number }): string {
  return [pin.organizationId, pin.name, pin.version].join("|");
}
