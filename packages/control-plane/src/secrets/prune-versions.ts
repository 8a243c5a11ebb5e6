import { parseSpec } from "../agents/deployments/deployment-spec.ts";
import type { DeploymentPhase, SecretSetRow } from "@vocalhost/store/schema";
import type { Db, Store, Tx } from "@vocalhost/store/store";

/** A deployment in creation may still pin a version that was current a moment ago. */
const KEPT_MS = 3_600_000;
/** A set keeps this many versions, besides those that deployments use. */
const NEWEST_KEPT = 10;
const livingPhases: DeploymentPhase[] = ["Creating", "Validating", "Active", "Draining"];

/** Deletes versions that no instance can request any more; returns how many. */
export async function pruneSecretVersions(store: Store, { nowMs }: { nowMs: number }): Promise<number> {
  const pinned = await pinnedVersions(store.db);
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
    await store.transaction((tx) => removeVersion(tx, { setId, version }));
  }
  return unused.length;
}

/**
 * Runs in the transaction that creates a version. Each version holds all values, so a few changes a second would fill
 * the disk before the periodic pruning.
 */
export async function forgetOldVersions(
  tx: Tx,
  { id: setId, organizationId, name, currentVersion }: SecretSetRow,
): Promise<void> {
  const old = await tx
    .selectFrom("secretVersions")
    .select("version")
    .where("setId", "=", setId)
    .where("version", "<=", currentVersion - NEWEST_KEPT)
    .execute();
  if (old.length === 0) return;
  const pinned = await pinnedVersions(tx, organizationId);
  for (const { version } of old)
    if (!pinned.has(pinOf({ organizationId, name, version }))) await removeVersion(tx, { setId, version });
}

async function removeVersion(tx: Tx, { setId, version }: { setId: string; version: number }): Promise<void> {
  await tx.deleteFrom("secretValues").where("setId", "=", setId).where("version", "=", version).execute();
  await tx.deleteFrom("secretVersions").where("setId", "=", setId).where("version", "=", version).execute();
}

async function pinnedVersions(db: Db, organizationId?: string): Promise<Set<string>> {
  const deployments = await db
    .selectFrom("deployments")
    .select(["organizationId", "spec"])
    .where("phase", "in", livingPhases)
    .$if(organizationId !== undefined, (of) => of.where("organizationId", "=", organizationId ?? ""))
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
