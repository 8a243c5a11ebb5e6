import { AppError, type Upload } from "@vocalhost/protocol";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Readable } from "node:stream";
import { writeAudit } from "../identity/audit.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { requireDiskQuota } from "../identity/quotas/require-quota.ts";
import type { UploadRow } from "@vocalhost/store/schema";
import { toTime } from "@vocalhost/base/to-time";
import type { BuildContext } from "./build-context.ts";
import { holdDisk } from "./hold-disk.ts";
import type { TakenUpload, UploadFiles } from "./upload-files.ts";
import { usedUp } from "./upload-refusals.ts";

const UPLOAD_LIFE_MS = 15 * 60_000;
const KEPT_MS = 24 * 3_600_000; // after that another build of it is unlikely
/** After this a body has ended or its controller has exited, and its reservation is released. */
const OVER_MS = 3_600_000;

/** Returns form fields that authorise the upload of one archive within a quarter of an hour. */
export async function createUpload(
  { store, clock, newId, regions, quotasOf }: BuildContext,
  organizationId: OrganizationId,
  input: { region: string | undefined; actor: string },
): Promise<Omit<Upload, "uploadUrl">> {
  store.requireDiskSpace();
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
    expiresAt: toTime(row.expiresAt),
  };
}

/** Receives an archive with valid form fields. */
export async function receiveUpload(
  context: BuildContext,
  files: UploadFiles,
  upload: { uploadId: string; fields: Record<string, string>; file: Readable },
): Promise<void> {
  const { store, clock } = context;
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
  const held = holdDisk(context, row);
  try {
    await using taken = await files.take(uploadId, file, held.more);
    await takeRow(context, row, taken.info.sizeBytes);
    await keepOrFree(context, files, { uploadId, taken });
    context.log.info({ uploadId, sizeBytes: taken.info.sizeBytes }, "upload received");
  } catch (error) {
    await held.release();
    throw error;
  }
}

/** Accepts the first complete body of an upload. Its reservation becomes its size. */
async function takeRow(
  { store, clock, quotasOf }: BuildContext,
  { id, organizationId }: UploadRow,
  sizeBytes: number,
): Promise<void> {
  await store.transaction(async (tx) => {
    const held = await tx.selectFrom("uploads").select("sizeBytes").where("id", "=", id).executeTakeFirst();
    const moreBytes = Math.max(0, sizeBytes - (held?.sizeBytes ?? 0)); // usually none
    await requireDiskQuota({ store, tx, quotasOf }, organizationId, moreBytes);
    const { numUpdatedRows } = await tx
      .updateTable("uploads")
      .set({ receivedAt: clock.nowMs(), sizeBytes })
      .where("id", "=", id)
      .where("receivedAt", "is", null)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) throw usedUp();
  });
}

/** Frees the row if storing fails, so that the client can upload again. */
async function keepOrFree(
  { store, log }: BuildContext,
  files: UploadFiles,
  { uploadId, taken }: { uploadId: string; taken: TakenUpload },
): Promise<void> {
  try {
    await taken.keep();
  } catch (error) {
    // Before the row is free, because afterwards the files may belong to another upload.
    await files
      .remove(uploadId)
      .catch((problem: unknown) => log.warn({ err: problem, uploadId }, "an upload's files were left"));
    await store.db
      .updateTable("uploads")
      .set({ receivedAt: null, sizeBytes: null })
      .where("id", "=", uploadId)
      .execute();
    throw error;
  }
}

/** Removes archives that are no longer needed. */
export async function sweepUploads({ store, clock }: BuildContext, files: UploadFiles): Promise<void> {
  const nowMs = clock.nowMs();
  await files.sweepPartial(nowMs);
  await store.db
    .deleteFrom("uploads")
    .where("receivedAt", "is", null)
    .where("expiresAt", "<", nowMs - OVER_MS)
    .execute();
  const old = await store.db
    .selectFrom("uploads")
    .select("id")
    .where("expiresAt", "<", nowMs - KEPT_MS)
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

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
