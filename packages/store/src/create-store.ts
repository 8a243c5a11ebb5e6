import { CamelCasePlugin, type Dialect, Kysely, sql } from "kysely";
import type { Schema } from "./schema.ts";
import type { Lockable, Store } from "./store.ts";
import { diskIsFull } from "./store-errors.ts";
import { beginningTransaction, inTransactionScope } from "./transaction-scope.ts";

export interface StoreParts {
  name: Store["dialect"];
  dialect: Dialect;
  /** Connections for long reads; without it they share the main one. */
  searchDialect?: Dialect;
  /** A connection that requests cannot use up; without it they share the main ones. */
  vitalDialect?: Dialect;
  isDiskFull(): boolean;
}

const COMPACTED_PAGES = 5_000; // 20 MB an hour, without holding up other writes for long

/** Makes a store of its connections. */
export function createStore(parts: StoreParts): Store {
  const { name, dialect, searchDialect, vitalDialect, isDiskFull } = parts;
  const open = (each: Dialect) => new Kysely<Schema>({ dialect: each, plugins: [new CamelCasePlugin()] });
  const db = open(dialect);
  const search = searchDialect ? open(searchDialect) : db;
  const vital = vitalDialect ? open(vitalDialect) : db;
  return {
    dialect: name,
    db,
    search,
    vital,
    isDiskFull,
    requireDiskSpace() {
      if (isDiskFull()) throw diskIsFull();
    },
    transaction(run, { limitMs } = {}) {
      const builder = db.transaction();
      const chosen = name === "postgres" ? builder.setIsolationLevel("read committed") : builder;
      return beginningTransaction(limitMs, () => chosen.execute((tx) => inTransactionScope(() => run(tx))));
    },
    forUpdate<Q extends Lockable>(query: Q, options: { skipLocked?: boolean } = {}): Q {
      if (name === "sqlite") return query;
      const locked = query.forUpdate();
      return (options.skipLocked ? locked.skipLocked() : locked) as Q;
    },
    async compact() {
      if (name === "sqlite") await sql`pragma incremental_vacuum(${sql.lit(COMPACTED_PAGES)})`.execute(db);
    },
    async [Symbol.asyncDispose]() {
      if (search !== db) await search.destroy();
      if (vital !== db) await vital.destroy();
      await db.destroy();
    },
  };
}
