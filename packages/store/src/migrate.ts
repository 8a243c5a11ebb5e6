import { sql } from "kysely";
import { ConfigError } from "@vocalhost/base/config-error";
import { silentLog, type Log } from "@vocalhost/base/log";
import { systemClock } from "@vocalhost/base/system-clock";
import { allMigrations } from "./migrations/all-migrations.ts";
import type { Migration } from "./migrations/migration.ts";
import type { Store, Tx } from "./store.ts";

const ADVISORY_LOCK = 7_386_429_117; // any number that no other program picks

export interface MigrateOptions {
  migrations?: readonly Migration[];
  nowMs?: number;
  log?: Log;
}

/** Brings the database up to this program, or refuses it whole. */
export async function migrate(
  store: Store,
  { migrations = allMigrations, nowMs = systemClock.nowMs(), log = silentLog }: MigrateOptions = {},
): Promise<void> {
  await store.transaction(async (tx) => {
    if (store.dialect === "postgres") await takeLock(tx, log);
    const applied = await appliedMigrations(tx);
    checkHistory(applied, migrations);
    const missing = migrations.slice(applied.length);
    if (applied.length > 0 && missing.length > 0)
      log.info(
        { from: applied.length, to: migrations.length },
        "bringing the database up to this version; with a long history this takes minutes, and nothing starts meanwhile",
      );
    for (const migration of missing) {
      await migration.up(tx, store.dialect);
      const { version, name } = migration;
      await versions(tx).insertInto("schemaVersion").values({ version, name, appliedAt: nowMs }).execute();
    }
  });
}

async function takeLock(tx: Tx, log: Log): Promise<void> {
  const { rows } = await sql<{ taken: boolean }>`
    select pg_try_advisory_xact_lock(${ADVISORY_LOCK}) as taken`.execute(tx);
  if (rows[0]?.taken) return;
  log.info({}, "waiting for another controller that brings the database up to its version");
  await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(tx);
}

interface SchemaVersionRow {
  version: number;
  name: string;
  appliedAt: number;
}

async function appliedMigrations(tx: Tx): Promise<SchemaVersionRow[]> {
  const tables = (await tx.introspection.getTables()).map(({ name }) => name);
  if (tables.includes("schemaVersion") || tables.includes("schema_version"))
    return versions(tx).selectFrom("schemaVersion").selectAll().orderBy("version").execute();
  if (tables.includes("agents") || tables.includes("organizations"))
    throw new ConfigError(
      "The database has tables of the same names that this service did not make; give it its own",
    );
  await tx.schema
    .createTable("schemaVersion")
    .addColumn("version", "integer", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("appliedAt", "bigint", (column) => column.notNull())
    .execute();
  return [];
}

function checkHistory(applied: SchemaVersionRow[], migrations: readonly Migration[]): void {
  const newest = migrations.at(-1)?.version ?? 0;
  for (const [index, { version, name }] of applied.entries()) {
    if (version > newest)
      throw new ConfigError(
        `The database was made by a newer program (schema ${applied.at(-1)?.version}, this one knows ${newest}); start that one, or restore a backup`,
      );
    const known = migrations[index];
    if (known?.version !== version || known.name !== name)
      throw new ConfigError(
        `The database has a schema this program does not know: version ${version}, "${name}"`,
      );
  }
}

function versions(tx: Tx) {
  return tx.withTables<{ schemaVersion: SchemaVersionRow }>();
}
