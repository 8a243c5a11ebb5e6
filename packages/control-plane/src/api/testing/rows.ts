import { randomUUID } from "node:crypto";
import type { OrganizationId } from "../../identity/principal.ts";
import type { BuildRow, SecretSetRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";

/** Inserts a finished build. */
export async function insertBuild(
  store: Store,
  organizationId: OrganizationId,
  changes: Partial<BuildRow> = {},
): Promise<BuildRow> {
  const id = changes.id ?? randomUUID();
  const row: BuildRow = {
    id,
    organizationId,
    region: "us-west",
    status: "success",
    uploadId: randomUUID(),
    contextHash: "0123456789abcdef",
    contentHash: "0123456789abcdef",
    dockerfilePath: "Dockerfile",
    imageUri: `vocalhost/builds:${id}`,
    errorMessage: null,
    contextSizeBytes: 10,
    imageSizeBytes: 10,
    facts: JSON.stringify({ botFile: "bot.ts", baseVersion: "0.2.0", filterPackages: [] }),
    startedAt: 1_000,
    completedAt: 2_000,
    createdAt: 1_000,
    updatedAt: 2_000,
    ...changes,
  };
  await store.db.insertInto("builds").values(row).execute();
  return row;
}

/** Inserts a secret set without values. */
export async function insertSecretSet(
  store: Store,
  organizationId: OrganizationId,
  changes: Partial<SecretSetRow> & { name: string },
): Promise<SecretSetRow> {
  const row: SecretSetRow = {
    id: randomUUID(),
    organizationId,
    region: "us-west",
    kind: "secret",
    status: "ready",
    errorMessage: null,
    host: null,
    currentVersion: 1,
    createdAt: 1_000,
    updatedAt: 1_000,
    ...changes,
  };
  await store.db.insertInto("secretSets").values(row).execute();
  return row;
}
