import { type PostgresPool, type PostgresPoolClient, PostgresDialect } from "kysely";
import type pg from "pg";
import { type Log, silentLog } from "@vocalhost/base/log";
import { loadLibrary } from "@vocalhost/base/load-library";
import { createStore } from "./create-store.ts";
import { migrate } from "./migrate.ts";
import type { Store } from "./store.ts";
import { fromPostgresError } from "./store-errors.ts";
import { refuseInsideTransaction, transactionLimitMs } from "./transaction-scope.ts";

export interface PostgresStoreOptions {
  url: string;
  log?: Log;
  /** @default 10 */
  connections?: number;
  /** Longest that a statement may take, besides searches and migrations. @default 8,000 */
  statementMs?: number;
}

const CONNECTIONS = 10;
const SEARCH_CONNECTIONS = 2;
const CONNECT_MS = 5_000;
const SEARCH_WAIT_MS = 30_000; // one search waits for others; months are closed and lists are read there too
const STATEMENT_MS = 8_000; // a start on a locked table or a frozen server is refused as soon as a warm one would be
const SEARCH_MS = 30_000;
const SILENCE_MS = 1_000; // of a server that should have ended a statement itself
const MIGRATION_MS = 3_600_000; // of every row of a large table, or while another controller is at it
const IDLE_IN_TRANSACTION_MS = 15_000; // a frozen controller must not keep others from its rows

export async function openPostgresStore({
  url,
  log = silentLog,
  connections = CONNECTIONS,
  statementMs = STATEMENT_MS,
}: PostgresStoreOptions): Promise<Store> {
  const { default: postgres } = await loadLibrary("pg", {
    needs: "A store in Postgres needs",
    load: () => import("pg"),
  });
  const open = (pool: Omit<PoolOptions, "url" | "log">): PostgresDialect =>
    new PostgresDialect({ pool: watched(openPool(postgres, { url, log, ...pool })) });
  const parts = { name: "postgres", isDiskFull: () => false } as const;
  {
    await using migrating = createStore({ ...parts, dialect: open({ max: 1, statementMs: MIGRATION_MS }) });
    await migrate(migrating, { log });
  }
  return createStore({
    ...parts,
    dialect: open({ max: connections, statementMs }),
    vitalDialect: open({ max: 1, statementMs }),
    searchDialect: open({
      max: SEARCH_CONNECTIONS,
      statementMs: Math.max(statementMs, SEARCH_MS),
      connectMs: SEARCH_WAIT_MS,
    }),
  });
}

interface PoolOptions {
  url: string;
  log: Log;
  max: number;
  statementMs: number;
  /** How long to wait for a connection, which another caller may have to release first. */
  connectMs?: number;
}

function openPool(
  postgres: typeof pg,
  { url, log, max, statementMs, connectMs = CONNECT_MS }: PoolOptions,
): pg.Pool {
  const pool = new postgres.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    statement_timeout: statementMs,
    query_timeout: statementMs + SILENCE_MS, // for a server that no longer answers at all
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    types: numbersAsNumbers(postgres.types),
  });
  const onLost = (error: Error): void => log.warn({ err: error }, "connection to the database lost");
  pool.on("error", onLost);
  pool.on("connect", (client) => client.on("error", onLost)); // without a listener, loss between statements is fatal
  return pool;
}

/** The pool as Kysely wants it, with errors callers can tell apart. */
function watched(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    async connect() {
      refuseInsideTransaction();
      const untilMs = performance.now() + (transactionLimitMs() ?? Number.POSITIVE_INFINITY);
      return toClient(await pool.connect().catch(rethrow), untilMs);
    },
    end: () => pool.end(),
  };
}

function toClient(client: pg.PoolClient, untilMs: number): PostgresPoolClient {
  let isLost = false;
  /** A commit may always take its whole time: its outcome must be known. */
  function limitOf(text: string): { query_timeout?: number } {
    if (untilMs === Number.POSITIVE_INFINITY || text === "commit") return {};
    return { query_timeout: Math.max(1, Math.round(untilMs - performance.now())) };
  }
  async function query(text: string, values: unknown[]): Promise<unknown> {
    try {
      return await client.query({ text, values, ...limitOf(text) });
    } catch (error) {
      const shown = fromPostgresError(error);
      isLost ||= shown !== error;
      if (isLost && text === "rollback") return { command: "ROLLBACK", rowCount: 0, rows: [] }; // nothing left to undo
      throw shown;
    }
  }
  return {
    query: query as PostgresPoolClient["query"],
    release: () => client.release(isLost), // a doubtful connection is closed, not reused
  };
}

function rethrow(error: unknown): never {
  throw fromPostgresError(error);
}

/** Counts and milliseconds are numbers here; `pg` would hand out text. */
function numbersAsNumbers(types: typeof pg.types): pg.CustomTypesConfig {
  const numbers: readonly number[] = [types.builtins.INT8, types.builtins.NUMERIC];
  return {
    getTypeParser: ((oid: number, format?: "text" | "binary") =>
      numbers.includes(oid) ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
  };
}
