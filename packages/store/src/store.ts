import type { Kysely, Transaction } from "kysely";
import type { Schema } from "./schema.ts";

/** The service's database. Two implementations, one contract: `sqlite.ts`, `postgres.ts`. */
export interface Store extends AsyncDisposable {
  readonly dialect: "sqlite" | "postgres";
  /** For reads, and for single statements that need no other. */
  readonly db: Kysely<Schema>;
  /** For reads that may take long: they have a thread or connections of their own, so that no other statement waits. */
  readonly search: Kysely<Schema>;
  /** For the lease of this controller, which must not wait in line with requests. */
  readonly vital: Kysely<Schema>;
  /**
   * Runs everything or nothing. On SQLite one at a time (`BEGIN IMMEDIATE`); on Postgres rows that decide are read
   * with `forUpdate`. Rejects with the callback's error after rolling back.
   */
  transaction<T>(run: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Adds `FOR UPDATE` where the dialect has it, and `SKIP LOCKED` if wanted. */
  forUpdate<Q extends Lockable>(query: Q, options?: { skipLocked?: boolean }): Q;
  /** True while the disk is full and the last reserve is in use. Ends of sessions still get written. */
  isDiskFull(): boolean;
  /** Throws `SERVICE_UNAVAILABLE` while it is: for work that can wait (starts, uploads, deployments, logs). */
  requireDiskSpace(): void;
  /** Gives space that rows no longer need back to the disk, a little at a time; databases that do so themselves do nothing. */
  compact(): Promise<void>;
}

export interface TransactionOptions {
  /**
   * On Postgres, how long all statements before the commit may take together: each may wait for another lock.
   * @default each statement has a limit of its own
   */
  limitMs?: number;
}

export type Db = Kysely<Schema>;
export type Tx = Transaction<Schema>;

export interface Lockable {
  forUpdate(): Lockable;
  skipLocked(): Lockable;
}
