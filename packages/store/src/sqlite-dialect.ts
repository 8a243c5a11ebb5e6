import { type Dialect, type Driver, SqliteAdapter, SqliteIntrospector } from "kysely";
import { createLock } from "./lock.ts";
import { SqliteCompiler } from "./sqlite-compiler.ts";
import { SqliteConnection, type SqliteTurns } from "./sqlite-connection.ts";
import type { SqliteLink } from "./sqlite-link.ts";
import { refuseInsideTransaction } from "./transaction-scope.ts";

/** One writer: transactions and single writes take turns; reads pass by where SQLite has a second connection. */
export function createSqliteDialect(link: SqliteLink, options: { waitLimitMs?: number } = {}): Dialect {
  return {
    createAdapter: () => new TurnTakingAdapter(),
    createDriver: () => createDriver(link, { lock: createLock(options), shared: undefined }),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteCompiler(),
  };
}

class TurnTakingAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true; // the lock decides who waits, not Kysely
  }
}

function createDriver(link: SqliteLink, turns: SqliteTurns): Driver {
  return {
    init: async () => undefined,
    async acquireConnection() {
      refuseInsideTransaction();
      return new SqliteConnection(link, turns);
    },
    beginTransaction: async (connection) => (connection as SqliteConnection).begin(),
    commitTransaction: async (connection) => (connection as SqliteConnection).commit(),
    rollbackTransaction: async (connection) => (connection as SqliteConnection).rollback(),
    releaseConnection: async (connection) => (connection as SqliteConnection).release(),
    destroy: () => link.close(),
  };
}
