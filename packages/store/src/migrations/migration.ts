import { type RawBuilder, sql } from "kysely";
import type { Store, Tx } from "../store.ts";

/** A step of the schema. Once released it never changes; the next step is a new one. */
export interface Migration {
  /** 1, 2, 3, … without gaps. */
  version: number;
  name: string;
  up(tx: Tx, dialect: Store["dialect"]): Promise<void>;
}

/** `?` at the end: may be null. */
export type ColumnKind = "text" | "integer" | "real" | "text?" | "integer?" | "real?";

export interface TableShape {
  columns: Record<string, ColumnKind>;
  primaryKey: string[];
  /** Rows go with the row they belong to. */
  belongsTo?: { columns: string[]; table: string; foreignColumns: string[] };
}

/** Makes a table that behaves alike everywhere: no silent conversions, text ordered by bytes. */
export async function createTable(
  tx: Tx,
  dialect: Store["dialect"],
  [name, shape]: [string, TableShape],
): Promise<void> {
  let table = tx.schema.createTable(name);
  for (const [column, kind] of Object.entries(shape.columns)) {
    const isNullable = kind.endsWith("?");
    const type = columnTypes[dialect][kind.replace("?", "") as keyof ColumnTypes];
    table = table.addColumn(column, type, (builder) => (isNullable ? builder : builder.notNull()));
  }
  table = table.addPrimaryKeyConstraint(`${name}PrimaryKey`, shape.primaryKey as never[]);
  const { belongsTo } = shape;
  if (belongsTo)
    table = table.addForeignKeyConstraint(
      `${name}BelongsTo`,
      belongsTo.columns as never[],
      belongsTo.table,
      belongsTo.foreignColumns,
      (constraint) => constraint.onDelete("cascade"),
    );
  await (dialect === "sqlite" ? table.modifyEnd(sql`strict`) : table).execute();
}

interface ColumnTypes {
  text: RawBuilder<unknown>;
  integer: RawBuilder<unknown>;
  real: RawBuilder<unknown>;
}

const columnTypes: Record<Store["dialect"], ColumnTypes> = {
  sqlite: { text: sql`text`, integer: sql`integer`, real: sql`real` },
  postgres: { text: sql`text collate "C"`, integer: sql`bigint`, real: sql`double precision` },
};
