import { AppError } from "@vocalhost/protocol";
import { type RawBuilder, sql } from "kysely";
import type { Clock } from "@vocalhost/base/clock";
import type { Store, TransactionOptions, Tx } from "../store.ts";
import type { Timing } from "@vocalhost/base/timing";

/** There is one leader, known by its epoch. A controller that lost the lease can no longer write. */
export interface LeaseOptions {
  store: Store;
  clock: Clock;
  timing: Pick<Timing, "leaseMs">;
  /** This controller, in a form that other controllers can judge: `host/pid/start`. */
  holder: string;
  /** Whether the holder of an unexpired lease is known to be dead. */
  isDead(holder: string): boolean;
  /** The newest epoch the driver has seen. */
  newestEpoch(): Promise<number>;
}

/** Takes the lease if it is free and returns the new epoch, otherwise undefined. */
export async function takeLease(options: LeaseOptions): Promise<number | undefined> {
  const { store, clock, timing, holder } = options;
  // A store put back from a backup has forgotten epochs that instances and folders have not.
  const seenEpoch = await options.newestEpoch();
  return store.transaction(async (tx) => {
    const row = await store
      .forUpdate(tx.selectFrom("leader").selectAll().where("id", "=", 1))
      .executeTakeFirst();
    const { nowMs } = await tx.selectNoFrom(timeOf({ store, clock }).as("nowMs")).executeTakeFirstOrThrow();
    const until = nowMs + timing.leaseMs;
    if (!row) {
      const epoch = seenEpoch + 1;
      const { numInsertedOrUpdatedRows } = await tx
        .insertInto("leader")
        .values({ id: 1, holder, epoch, until })
        .onConflict((conflict) => conflict.doNothing()) // two that see an empty store at the same time
        .executeTakeFirst();
      return numInsertedOrUpdatedRows === 1n ? epoch : undefined;
    }
    if (!mayTake(row, nowMs, options)) return undefined;
    const epoch = Math.max(row.epoch, seenEpoch) + 1;
    await tx.updateTable("leader").set({ holder, epoch, until }).where("id", "=", 1).execute();
    return epoch;
  });
}

/**
 * Returns the holder of the lease, in the form of `LeaseOptions.holder`, and whether the lease could be taken. Locks
 * nothing: a standby reads it often, and the leader's own transactions need that row.
 */
export async function lookAtLease(options: LeaseOptions): Promise<{ holder?: string; isFree: boolean }> {
  const { store } = options;
  const row = await store.db
    .selectFrom("leader")
    .select(["holder", "until", timeOf(options).as("nowMs")])
    .where("id", "=", 1)
    .executeTakeFirst();
  return row ? { holder: row.holder, isFree: mayTake(row, row.nowMs, options) } : { isFree: true };
}

function mayTake(row: { holder: string; until: number }, nowMs: number, options: LeaseOptions): boolean {
  if (row.holder === options.holder) return true;
  const isOver = row.until <= nowMs || row.until > nowMs + 2 * options.timing.leaseMs; // the clock was set back
  return isOver || options.isDead(row.holder);
}

/** Extends the lease. Returns whether it is still ours. */
export async function renewLease(options: LeaseOptions, epoch: number): Promise<boolean> {
  const { store, clock, timing } = options;
  // A crowd of starts may use every other connection for longer than the lease lasts.
  const { numUpdatedRows } = await store.vital
    .updateTable("leader")
    .set({ until: sql<number>`${timeOf({ store, clock })} + ${sql.lit(timing.leaseMs)}` })
    .where("id", "=", 1)
    .where("epoch", "=", epoch)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Gives the lease back, so that no controller has to wait for its end. */
export async function releaseLease({ store }: Pick<LeaseOptions, "store">, epoch: number): Promise<void> {
  await store.db
    .updateTable("leader")
    .set({ until: 0 })
    .where("id", "=", 1)
    .where("epoch", "=", epoch)
    .execute();
}

/** Machines disagree about the time; those that share a database go by its clock. */
function timeOf({ store, clock }: Pick<LeaseOptions, "store" | "clock">): RawBuilder<number> {
  if (store.dialect === "sqlite") return sql<number>`${sql.lit(Math.round(clock.nowMs()))}`;
  return sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
}

/** Runs a transaction that only the leader of this epoch can commit. */
export async function asLeader<T>(
  { store, epoch }: { store: Store; epoch: number },
  run: (tx: Tx) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> {
  return store.transaction(async (tx) => {
    const lease = tx.selectFrom("leader").select("epoch").where("id", "=", 1).where("epoch", "=", epoch);
    // On Postgres the lock keeps other controllers from taking the lease meanwhile, but not this one from renewing it.
    const held = store.dialect === "postgres" ? lease.forKeyShare() : lease;
    if (!(await held.executeTakeFirst())) throw new LeadershipLostError();
    return run(tx);
  }, options);
}

/** Returns a store whose transactions only the leader can commit, for all code that does not check the epoch itself. */
export function storeOfLeader(leading: { store: Store; readonly epoch: number }): Store {
  return { ...leading.store, transaction: (run, options) => asLeader(leading, run, options) };
}

/** Another controller has taken over; this one must go. */
export class LeadershipLostError extends AppError {
  constructor() {
    super("SERVICE_UNAVAILABLE", { message: "Another controller has taken over" });
  }
}
