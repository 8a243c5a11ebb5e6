import { CamelCasePlugin, type Dialect, Kysely } from "kysely";
import type { Schema } from "./schema.ts";
import type { Lockable, Store } from "./store.ts";
import { inTransactionScope } from "./transaction-scope.ts";

export interface StoreParts {
  name: Store["dialect"];
  dialect: Dialect;
  isDiskFull(): boolean;
}

/** What both stores have in common. */
export function createStore({ name, dialect, isDiskFull }: StoreParts): Store {
  const db = new Kysely<Schema>({ dialect, plugins: [new CamelCasePlugin()] });
  return {
    dialect: name,
    db,
    isDiskFull,
    transaction: (run) => {
      const builder = db.transaction();
      const chosen = name === "postgres" ? builder.setIsolationLevel("read committed") : builder;
      return chosen.execute((tx) => inTransactionScope(() => run(tx)));
    },
    forUpdate<Q extends Lockable>(query: Q, options: { skipLocked?: boolean } = {}): Q {
      if (name === "sqlite") return query;
      const locked = query.forUpdate();
      return (options.skipLocked ? locked.skipLocked() : locked) as Q;
    },
    async [Symbol.asyncDispose]() {
      await db.destroy();
    },
  };
}
