import type { UsageRow } from "@vocalhost/store/schema";
import type { Tx } from "@vocalhost/store/store";
import type { ClosingSession } from "./usage.ts";
import { usageId, usageRowsFor } from "./usage.ts";

/**
 * Enters a session into the ledger, in the transaction that ends it. Repeating it changes nothing. Usage of a month
 * that is already closed becomes a dated correction.
 */
export async function writeUsage(
  tx: Tx,
  session: ClosingSession,
  { nowMs }: { nowMs: number },
): Promise<void> {
  const startedAt = session.boundAt ?? 0;
  for (const row of usageRowsFor(session)) await writeRow(tx, row, { nowMs, startedAt });
}

async function writeRow(
  tx: Tx,
  row: UsageRow,
  { nowMs, startedAt }: { nowMs: number; startedAt: number },
): Promise<void> {
  if (await isEntered(tx, row)) return;
  const correction = await isClosed(tx, row);
  if (correction) {
    const { sessionId, period, organizationId, seconds } = row;
    await tx
      .insertInto("corrections")
      .values({ sessionId, period, organizationId, seconds, foundAt: nowMs })
      .onConflict((conflict) => conflict.columns(["sessionId", "period"]).doNothing())
      .execute();
  } else {
    await tx
      .insertInto("usage")
      .values({ ...row, startedAt })
      .onConflict((conflict) => conflict.columns(["sessionId", "period"]).doNothing())
      .execute();
  }
  await tx
    .insertInto("outbox")
    .values({
      id: usageId(row),
      payload: JSON.stringify({ type: "usage", ...row, correction }),
      createdAt: nowMs,
      sentAt: null,
      heldAt: null,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

async function isEntered(tx: Tx, row: UsageRow): Promise<boolean> {
  const found = await tx
    .selectFrom("usage")
    .select("sessionId")
    .where("sessionId", "=", row.sessionId)
    .where("period", "=", row.period)
    .executeTakeFirst();
  return found !== undefined;
}

async function isClosed(tx: Tx, row: UsageRow): Promise<boolean> {
  const found = await tx
    .selectFrom("periods")
    .select("closedAt")
    .where("organizationId", "=", row.organizationId)
    .where("period", "=", row.period)
    .executeTakeFirst();
  return found !== undefined;
}
