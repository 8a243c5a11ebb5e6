import type { LogLineRow } from "@vocalhost/store/schema";
import type { Db, Store, Tx } from "@vocalhost/store/store";
import type { Cursor } from "./take-lines.ts";

export interface OutputRows {
  lines: LogLineRow[];
  /** Lines whose text may replace an earlier one. */
  notices: LogLineRow[];
  cursors: Cursor[];
  nowMs: number;
}

const ROWS_PER_INSERT = 200;

/** Lines and how far they were read, in one transaction: after a crash nothing is missing or twice. */
export async function writeOutput(
  store: Store,
  { lines, notices, cursors, nowMs }: OutputRows,
): Promise<void> {
  await store.transaction(async (tx) => {
    for (let start = 0; start < lines.length; start += ROWS_PER_INSERT)
      await tx
        .insertInto("logLines")
        .values(lines.slice(start, start + ROWS_PER_INSERT))
        .onConflict((conflict) => conflict.columns(["instanceId", "position"]).doNothing())
        .execute();
    for (const notice of notices)
      await tx
        .insertInto("logLines")
        .values(notice)
        .onConflict((conflict) =>
          conflict.columns(["instanceId", "position"]).doUpdateSet({ text: notice.text }),
        )
        .execute();
    for (const cursor of cursors) await writeCursor(tx, cursor, nowMs);
  });
}

async function writeCursor(tx: Tx, cursor: Cursor, updatedAt: number): Promise<void> {
  const { instanceId, ...rest } = cursor;
  await tx
    .insertInto("outputCursors")
    .values({ instanceId, ...rest, updatedAt })
    .onConflict((conflict) => conflict.column("instanceId").doUpdateSet({ ...rest, updatedAt }))
    .execute();
}

export async function readCursors(db: Db, instanceIds: string[]): Promise<Cursor[]> {
  const found: Cursor[] = [];
  for (let start = 0; start < instanceIds.length; start += ROWS_PER_INSERT)
    found.push(
      ...(await db
        .selectFrom("outputCursors")
        .select(["instanceId", "nextPosition", "sessionId", "storedBytes", "droppedFrom", "droppedLines"])
        .where("instanceId", "in", instanceIds.slice(start, start + ROWS_PER_INSERT))
        .execute()),
    );
  return found;
}

export async function newestLineAt(db: Db): Promise<number> {
  const query = db.selectFrom("logLines").select(({ fn }) => fn.max("at").as("at"));
  return (await query.executeTakeFirst())?.at ?? 0;
}
