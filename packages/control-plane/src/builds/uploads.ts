import { AppError, isAppError, type Upload } from "@vocalhost/protocol";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Readable } from "node:stream";
import { writeAudit } from "../auth/audit.ts";
import type { OrganizationId } from "../auth/principal.ts";
import { requireDiskQuota } from "../quotas/require-quota.ts";
import type { UploadRow } from "../store/schema.ts";
import type { BuildContext } from "./build-context.ts";
import type { UploadFiles } from "./upload-files.ts";

const UPLOAD_LIFE_MS = 15 * 60_000;
const KEPT_MS = 24 * 3_600_000; // after which another build of it is unlikely

/** Gives the right to send one archive, for a quarter of an hour. */
export async function createUpload(
  { store, clock, newId, regions, quotasOf }: BuildContext,
  organizationId: OrganizationId,
  input: { region: string | undefined; actor: string },
): Promise<Omit<Upload, "uploadUrl">> {
  if (store.isDiskFull()) throw new AppError("SERVICE_UNAVAILABLE", { message: "The disk is full" });
  const region = requireRegion(regions, input.region);
  const nowMs = clock.nowMs();
  const policy = randomBytes(32).toString("base64url");
  const row: UploadRow = {
    id: newId(),
    organizationId,
    region,
    policySha256: sha256(policy).toString("hex"),
    expiresAt: nowMs + UPLOAD_LIFE_MS,
    receivedAt: null,
    sizeBytes: null,
    createdAt: nowMs,
  };
  await store.transaction(async (tx) => {
    await requireDiskQuota({ store, tx, quotasOf }, organizationId);
    await tx.insertInto("uploads").values(row).execute();
    const { actor } = input;
    await writeAudit(tx, { organizationId, at: nowMs, actor, action: "upload-created", target: row.id });
  });
  return {
    uploadId: row.id,
    uploadFields: { key: `uploads/${row.id}.tgz`, "Content-Type": "application/gzip", Policy: policy },
    expiresAt: new Date(row.expiresAt).toISOString(),
  };
}

/** Takes an archive sent with the right form fields. */
export async function receiveUpload(
  { store, clock, log, quotasOf }: BuildContext,
  files: UploadFiles,
  upload: { uploadId: string; fields: Record<string, string>; file: Readable },
): Promise<void> {
  const { uploadId, fields, file } = upload;
  const row = await store.db.selectFrom("uploads").selectAll().where("id", "=", uploadId).executeTakeFirst();
  const isHolder = timingSafeEqual(
    sha256(fields["Policy"] ?? ""),
    Buffer.from(row?.policySha256 ?? NOBODY, "hex"),
  );
  if (!row || !isHolder) throw new AppError("ACCESS_DENIED");
  if (row.expiresAt <= clock.nowMs())
    throw new AppError("ACCESS_DENIED", { message: "The upload address has expired" });
  if (row.receivedAt !== null) throw usedUp();
  const { sizeBytes } = await files.receive(uploadId, file);
  try {
    await store.transaction(async (tx) => {
      await requireDiskQuota({ store, tx, quotasOf }, row.organizationId, sizeBytes);
      const { numUpdatedRows } = await tx
        .updateTable("uploads")
        .set({ receivedAt: clock.nowMs(), sizeBytes })
        .where("id", "=", uploadId)
        .where("receivedAt", "is", null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw usedUp();
    });
  } catch (error) {
    if (isAppError(error) && error.code === "QUOTA_EXCEEDED") await files.remove(uploadId);
    throw error;
  }
  log.info({ uploadId, sizeBytes }, "upload received");
}

/** Removes archives that are of no more use. */
export async function sweepUploads({ store, clock }: BuildContext, files: UploadFiles): Promise<void> {
  const old = await store.db
    .selectFrom("uploads")
    .select("id")
    .where("expiresAt", "<", clock.nowMs() - KEPT_MS)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("builds")
            .select("builds.id")
            .whereRef("builds.uploadId", "=", "uploads.id")
            .where("builds.status", "in", ["pending", "building"]),
        ),
      ),
    )
    .limit(100)
    .execute();
  for (const { id } of old) {
    await files.remove(id);
    await store.db.deleteFrom("uploads").where("id", "=", id).execute();
  }
}

export function requireRegion(regions: readonly string[], wanted: string | null | undefined): string {
  const region = wanted ?? regions[0];
  if (region !== undefined && regions.includes(region)) return region;
  throw new AppError("GENERIC_BAD_REQUEST", { message: `Builds are not enabled in region '${region}'` });
}

const NOBODY = "00".repeat(32);

function usedUp(): AppError {
  return new AppError("GENERIC_BAD_REQUEST", { message: "This upload address has been used" });
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
