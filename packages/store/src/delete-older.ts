import { sql } from "kysely";
import type { Schema } from "./schema.ts";
import type { Store } from "./store.ts";

/** Short transactions, so that sessions do not wait for it. */
export const ROWS_PER_DELETE = 500;

export interface OldRows<Table extends keyof Schema> {
  table: Table;
  /** Columns that name a row together. */
  key: (keyof Schema[Table])[];
  /** The column that says when it was written. */
  age: keyof Schema[Table];
  beforeMs: number;
}

/** Deletes rows that are older, a batch at a time. Answers how many. */
export async function deleteOlder<Table extends keyof Schema>(
  { db }: Pick<Store, "db">,
  { table, key, age, beforeMs }: OldRows<Table>,
): Promise<number> {
  const from = sql.table(table);
  const columns = sql.join(key.map((each) => sql.ref(String(each))));
  const deleteSome = sql`
    delete from ${from} where (${columns}) in (
      select ${columns} from ${from} where ${sql.ref(String(age))} < ${beforeMs} limit ${sql.lit(ROWS_PER_DELETE)}
    )`;
  for (let deleted = 0; ;) {
    const { numAffectedRows = 0n } = await deleteSome.execute(db);
    deleted += Number(numAffectedRows);
    if (numAffectedRows < ROWS_PER_DELETE) return deleted;
  }
}
