import { firstTables } from "./0001-first-tables.ts";
import type { Migration } from "./migration.ts";

export const allMigrations: readonly Migration[] = [firstTables];
