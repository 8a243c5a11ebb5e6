import { AppError } from "@vocalhost/protocol";
import type { Clock } from "../clock.ts";
import type { Store, Tx } from "../store/store.ts";
import type { Timing } from "../timing.ts";

/** There is one leader, known by its epoch; one that lost the lease can no longer write. */
export interface LeaseOptions {
  store: Store;
  clock: Clock;
  timing: Pick<Timing, "leaseMs">;
  /** Who we are, in a form that others can judge: `host/pid/start`. */
  holder: string;
  /** Whether the holder of an unexpired lease is known to be dead. */
  isDead(holder: string): boolean;
  /** The newest epoch the driver has seen. */
  newestEpoch(): Promise<number>;
}

/** Takes the lease if it is free and gives the new epoch, otherwise undefined. */
export async function takeLease(options: LeaseOptions): Promise<number | undefined> {
  const { store, clock, timing, holder } = options;
  // A store put back from a backup has forgotten epochs that instances and folders have not.
  const seenEpoch = await options.newestEpoch();
  return store.transaction(async (tx) => {
    const row = await store
      .forUpdate(tx.selectFrom("leader").selectAll().where("id", "=", 1))
      .executeTakeFirst();
    const nowMs = clock.nowMs();
    const until = nowMs + timing.leaseMs;
    if (!row) {
      const epoch = seenEpoch + 1;
      await tx.insertInto("leader").values({ id: 1, holder, epoch, until }).execute();
      return epoch;
    }
    const isFree = row.until <= nowMs || row.until > nowMs + 2 * timing.leaseMs; // the clock was set back
    if (!isFree && row.holder !== holder && !options.isDead(row.holder)) return undefined;
    const epoch = Math.max(row.epoch, seenEpoch) + 1;
    await tx.updateTable("leader").set({ holder, epoch, until }).where("id", "=", 1).execute();
    return epoch;
  });
}

/** Who has the lease, in the form of `LeaseOptions.holder`. */
export async function leaseHolder(store: Store): Promise<string | undefined> {
  return (await store.db.selectFrom("leader").select("holder").where("id", "=", 1).executeTakeFirst())
    ?.holder;
}

/** Whether the lease is still ours; extends it. */
export async function renewLease(options: LeaseOptions, epoch: number): Promise<boolean> {
  const { store, clock, timing } = options;
  const { numUpdatedRows } = await store.db
    .updateTable("leader")
    .set({ until: clock.nowMs() + timing.leaseMs })
    .where("id", "=", 1)
    .where("epoch", "=", epoch)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** A transaction that only the leader of this epoch can commit. */
export async function asLeader<T>(
  { store, epoch }: { store: Store; epoch: number },
  run: (tx: Tx) => Promise<T>,
): Promise<T> {
  return store.transaction(async (tx) => {
    const query = tx.selectFrom("leader").select("epoch").where("id", "=", 1);
    const row = await (store.dialect === "postgres" ? query.forShare() : query).executeTakeFirst();
    if (row?.epoch !== epoch) throw new LeadershipLostError();
    return run(tx);
  });
}

/** The store as everybody but the deciding code sees it: what they write is the leader's word too. */
export function storeOfLeader({ store, epoch }: { store: Store; epoch: number }): Store {
  return { ...store, transaction: (run) => asLeader({ store, epoch }, run) };
}

/** Another controller has taken over; this one must go. */
export class LeadershipLostError extends AppError {
  constructor() {
    super("SERVICE_UNAVAILABLE", { message: "Another controller has taken over" });
  }
}
