import { sql, type TableMetadata, type Transaction } from "kysely";
import { ConfigError } from "@vocalhost/base/config-error";
import type { Store, Tx } from "./store.ts";
import { outsideTransactionScope } from "./transaction-scope.ts";

export interface CopyOptions {
  from: Store;
  /** Has the same tables, and no rows. */
  to: Store;
  /** After every page of rows. */
  progress?(table: string, rows: number): void;
}

export interface CopiedTable {
  table: string;
  rows: number;
}

type Row = Record<string, unknown>;

/** The database's own names, without our translation: tables of the sign-in library keep theirs. */
interface Side {
  dialect: Store["dialect"];
  tx: Transaction<Record<string, Row>>;
}

const PAGE_ROWS = 200; // a row of sessions has 30 columns, and SQLite takes 32,766 values a statement
const SCHEMA_VERSION = "schema_version"; // describes its own database

/** Copies every row, as of one moment, or nothing. Works between the two kinds of store, in both directions. */
export async function copyStore({ from, to, progress }: CopyOptions): Promise<CopiedTable[]> {
  return from.transaction(async (fromTx) => {
    const source = sideOf(from, fromTx);
    if (source.dialect === "postgres") {
      await sql`set transaction isolation level repeatable read`.execute(source.tx);
      // It has nothing to say while the disk of the other one takes all that was copied, which may be minutes.
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(source.tx);
    }
    const present = new Set((await tablesOf(source)).map(({ name }) => name));
    return outsideTransactionScope(() =>
      to.transaction(async (toTx) => {
        const target = sideOf(to, toTx);
        const tables = await parentsFirst(target, await tablesOf(target));
        await requireEmpty(target, tables);
        const copied: CopiedTable[] = [];
        for (const table of tables.filter(({ name }) => present.has(name)))
          copied.push(await copyTable({ source, target, table, progress }));
        // The leader of the source store does not lead this one.
        await target.tx.updateTable("leader").set({ until: 0 }).execute();
        return copied;
      }),
    );
  });
}

interface TableCopy {
  source: Side;
  target: Side;
  table: TableMetadata;
  progress: CopyOptions["progress"];
}

async function copyTable({ source, target, table, progress }: TableCopy): Promise<CopiedTable> {
  const { name } = table;
  const convert = createConversion(table, target.dialect);
  let rows = 0;
  for await (const page of pagesOf(source, name)) {
    await target.tx.insertInto(name).values(page.map(convert)).execute();
    rows += page.length;
    progress?.(name, rows);
  }
  const { count } = await target.tx
    .selectFrom(name)
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  if (count !== rows) throw new Error(`${name}: ${rows} rows were read and ${count} written`);
  return { table: name, rows };
}

function pagesOf({ dialect, tx }: Side, table: string): AsyncGenerator<Row[]> {
  return dialect === "sqlite" ? pagesByRowId(tx, table) : pagesByCursor(tx, table);
}

async function* pagesByCursor(tx: Side["tx"], table: string): AsyncGenerator<Row[]> {
  await sql`declare copied_rows no scroll cursor for select * from ${sql.table(table)}`.execute(tx);
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(PAGE_ROWS)} from copied_rows`.execute(tx);
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) break;
  }
  await sql`close copied_rows`.execute(tx);
}

async function* pagesByRowId(tx: Side["tx"], table: string): AsyncGenerator<Row[]> {
  for (let after = 0; ;) {
    const { rows } = await sql<Row & { copiedRowId: number }>`
      select rowid as "copiedRowId", * from ${sql.table(table)}
      where rowid > ${after} order by rowid limit ${PAGE_ROWS}`.execute(tx);
    if (rows.length > 0) yield rows.map(({ copiedRowId: _rowId, ...row }) => row);
    if (rows.length < PAGE_ROWS) return;
    after = rows.at(-1)?.copiedRowId ?? after;
  }
}

/** SQLite keeps the sign-in library's booleans as numbers and its dates as text, and takes text with a NUL in it. */
function createConversion(table: TableMetadata, to: Store["dialect"]): (row: Row) => Row {
  const booleans = new Set(
    table.columns.filter(({ dataType }) => dataType === "bool").map(({ name }) => name),
  );
  const convert = (name: string, value: unknown): unknown => {
    if (to === "postgres" && typeof value === "string") return value.replaceAll("\0", "␀");
    if (to === "postgres") return booleans.has(name) && typeof value === "number" ? value !== 0 : value;
    return value instanceof Date ? value.toISOString() : value;
  };
  return (row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, convert(name, value)]));
}

async function requireEmpty({ tx }: Side, tables: TableMetadata[]): Promise<void> {
  for (const { name } of tables) {
    const row = await tx
      .selectFrom(name)
      .select(sql`1`.as("found"))
      .limit(1)
      .executeTakeFirst();
    if (row)
      throw new ConfigError(
        `The store to copy into has data already (table ${name}); nothing was copied. Give it an empty database.`,
      );
  }
}

async function tablesOf({ tx }: Side): Promise<TableMetadata[]> {
  const tables = await tx.introspection.getTables();
  return tables.filter(
    ({ name, isView }) => !isView && name !== SCHEMA_VERSION && !name.startsWith("sqlite_"),
  );
}

async function parentsFirst(side: Side, tables: TableMetadata[]): Promise<TableMetadata[]> {
  const parents = await parentsOf(side);
  const ordered = new Set<TableMetadata>();
  const add = (table: TableMetadata): void => {
    if (ordered.has(table)) return;
    for (const parent of tables)
      if (parent !== table && parents.get(table.name)?.has(parent.name)) add(parent);
    ordered.add(table);
  };
  for (const table of tables) add(table);
  return [...ordered];
}

async function parentsOf({ dialect, tx }: Side): Promise<Map<string, Set<string>>> {
  const query =
    dialect === "sqlite"
      ? sql<{ child: string; parent: string }>`
          select tables.name as child, key."table" as parent
          from sqlite_master as tables, pragma_foreign_key_list(tables.name) as key where tables.type = 'table'`
      : sql<{ child: string; parent: string }>`
          select child.relname as child, parent.relname as parent from pg_constraint
          join pg_class as child on child.oid = conrelid join pg_class as parent on parent.oid = confrelid
          where contype = 'f'`;
  const parents = new Map<string, Set<string>>();
  for (const { child, parent } of (await query.execute(tx)).rows)
    parents.set(child, (parents.get(child) ?? new Set()).add(parent));
  return parents;
}

function sideOf({ dialect }: Store, tx: Tx): Side {
  return { dialect, tx: tx.withoutPlugins() as unknown as Side["tx"] };
}
