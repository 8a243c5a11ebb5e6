import { sql } from "kysely";
import type { Log } from "@vocalhost/base/log";
import type { Db, Store, Tx } from "@vocalhost/store/store";
import { LIVE_INSTANCE_STATES } from "./instance-state.ts";

/** UDP ports through which calls reach instances: each instance has one of its own for as long as its row lives. */
export interface MediaPorts {
  /** Returns a port for the instance that this transaction makes; null where no ports are configured. */
  take(taking: { store: Store; tx: Tx }): Promise<number | null | "used-up">;
  /** Returns a port that no instance has or gets until it is released. */
  borrow(db: Db): Promise<BorrowedPort | undefined>;
}

export interface BorrowedPort extends Disposable {
  port: number;
}

export interface PortRange {
  first: number;
  last: number;
}

const LOCK_KEY = 0x6d706f72; // any number, as long as all controllers take the same

export function createMediaPorts({ range, log }: { range: PortRange | undefined; log: Log }): MediaPorts {
  const borrowed = new Set<number>();
  // In turn, so that a port which another program occupies does not fail every start.
  let newest = 0;
  let isUsedUp = false;

  async function choose(db: Db): Promise<number | undefined> {
    if (!range) return undefined;
    const taken = new Set([...borrowed, ...(await portsInUse(db))]);
    const port = nextFree(range, newest, taken);
    if (port === undefined && !isUsedUp)
      log.warn({ ...range }, "every media port is in use: no more instances until one ends");
    isUsedUp = port === undefined;
    newest = port ?? newest;
    return port;
  }

  return {
    async take({ store, tx }) {
      if (!range) return null;
      // Until the transaction ends: two that look at once would see the same port free.
      if (store.dialect === "postgres") await sql`select pg_advisory_xact_lock(${LOCK_KEY})`.execute(tx);
      return (await choose(tx)) ?? "used-up";
    },
    async borrow(db) {
      const port = await choose(db);
      if (port === undefined || borrowed.has(port)) return undefined;
      borrowed.add(port);
      return { port, [Symbol.dispose]: () => void borrowed.delete(port) };
    },
  };
}

async function portsInUse(db: Db): Promise<number[]> {
  const rows = await db
    .selectFrom("instances")
    .select("mediaPort")
    .where("mediaPort", "is not", null)
    .where("state", "in", LIVE_INSTANCE_STATES)
    .execute();
  return rows.flatMap(({ mediaPort }) => mediaPort ?? []);
}

function nextFree({ first, last }: PortRange, newest: number, taken: Set<number>): number | undefined {
  const count = last - first + 1;
  const start = newest >= first && newest < last ? newest + 1 - first : 0;
  for (let step = 0; step < count; step += 1) {
    const port = first + ((start + step) % count);
    if (!taken.has(port)) return port;
  }
  return undefined;
}
