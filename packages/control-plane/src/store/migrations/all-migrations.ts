import { firstTables } from "./0001-first-tables.ts";
import { longHistories } from "./0002-long-histories.ts";
import type { Migration } from "./migration.ts";

export const allMigrations: readonly Migration[] = [firstTables, longHistories];
