import type { Selectable } from "kysely";
import { openPostgresStore } from "../../../packages/store/src/postgres.ts";
import type { Schema } from "../../../packages/store/src/schema.ts";
import type { ServiceProcess } from "../../harness/service-process.ts";

type Table = "sessions" | "instances" | "usage";
type Row<Name extends Table> = Selectable<Schema[Name]>;

/** Rows the service has stored, in either database. */
export interface Book extends AsyncDisposable {
  rows<Name extends Table>(table: Name): Promise<Row<Name>[]>;
}

export async function openBook(service: ServiceProcess, postgresUrl?: string): Promise<Book> {
  if (postgresUrl === undefined)
    return {
      rows: async <Name extends Table>(table: Name) =>
        service.rows<Record<string, unknown>>(`SELECT * FROM ${table}`).map(camelCased) as Row<Name>[],
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  const store = await openPostgresStore({ url: postgresUrl, connections: 1 });
  return {
    rows: async (table) => (await store.db.selectFrom(table).selectAll().execute()) as never,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function camelCased(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}
