import { join } from "node:path";
import type { Log } from "@vocalhost/base/log";
import { openPostgresStore } from "./postgres.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { Store } from "./store.ts";

export interface StoreOptions {
  /** `postgres://…`; without it the store is a file in the data folder. */
  databaseUrl?: string;
  dataFolder: string;
  log: Log;
  /** Told when a statement finds the SQLite file broken. */
  damaged?(error: Error): void;
}

export async function openStore({ databaseUrl, dataFolder, log, damaged }: StoreOptions): Promise<Store> {
  if (databaseUrl === undefined)
    return openSqliteStore({ file: join(dataFolder, "vocalhost.db"), log, ...(damaged ? { damaged } : {}) });
  if (/^postgres(ql)?:\/\//.test(databaseUrl)) return openPostgresStore({ url: databaseUrl, log });
  throw new Error("The database's address must begin with postgres://");
}
