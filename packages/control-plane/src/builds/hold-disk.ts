import type { UploadRow } from "@vocalhost/store/schema";
import { takeDiskQuota } from "../identity/quotas/require-quota.ts";
import type { BuildContext } from "./build-context.ts";
import { usedUp } from "./upload-refusals.ts";

/** The disk quota reserved for a body during its upload; the row holds the sum of all bodies' reservations. */
export interface HeldDisk {
  /**
   * Resolves when this many more bytes may be written; throws if the quota is used up or another body was accepted.
   */
  more(bytes: number): Promise<void>;
  /** Releases the reservation, unless the upload was accepted. */
  release(): Promise<void>;
}

// Reserves more than requested, so that a large body does not cost a transaction per chunk.
const STEP_MIN_BYTES = 256 * 1024;
const STEP_MAX_BYTES = 8 * 1024 ** 2;

export function holdDisk({ store, quotasOf, log }: BuildContext, row: UploadRow): HeldDisk {
  let heldBytes = 0;
  let usedBytes = 0;

  async function hold(neededBytes: number): Promise<void> {
    const wantedBytes = Math.max(neededBytes, Math.min(Math.max(heldBytes, STEP_MIN_BYTES), STEP_MAX_BYTES));
    heldBytes += await store.transaction(async (tx) => {
      const bytes = await takeDiskQuota({ store, tx, quotasOf }, row.organizationId, {
        neededBytes,
        wantedBytes,
      });
      const { numUpdatedRows } = await tx
        .updateTable("uploads")
        .set((is) => ({ sizeBytes: is(is.fn.coalesce("sizeBytes", is.lit(0)), "+", bytes) }))
        .where("id", "=", row.id)
        .where("receivedAt", "is", null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw usedUp();
      return bytes;
    });
  }

  return {
    async more(bytes) {
      if (usedBytes + bytes > heldBytes) await hold(usedBytes + bytes - heldBytes);
      usedBytes += bytes;
    },
    async release() {
      if (heldBytes === 0) return;
      try {
        await store.db
          .updateTable("uploads")
          .set((is) => ({
            sizeBytes: is
              .case()
              .when("sizeBytes", ">", heldBytes)
              .then(is("sizeBytes", "-", heldBytes))
              .else(is.lit(0))
              .end(),
          }))
          .where("id", "=", row.id)
          .where("receivedAt", "is", null)
          .execute();
      } catch (error) {
        // The reservation counts until the row is swept.
        log.warn({ err: error, uploadId: row.id }, "disk held for an upload could not be given back");
      }
    },
  };
}
