import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryStore } from "../sqlite.ts";
import { openPostgresStore } from "../postgres.ts";
import { postgresIsMissing, startTestPostgres } from "../testing/test-postgres.ts";
import {
  asLeader,
  LeadershipLostError,
  lookAtLease,
  releaseLease,
  renewLease,
  storeOfLeader,
  takeLease,
  type LeaseOptions,
} from "./leader.ts";

const LEASE_MS = 10_000;

test("a lease is free when it has run out, or its holder is known to be dead", async () => {
  await using store = await openMemoryStore();
  const time = { nowMs: 0 };
  const take = (holder: string, dead: string[] = []): Promise<number | undefined> =>
    takeLease(leaseOf({ store, time, holder, dead }));
  assert.equal(await take("first"), 1);
  assert.equal(await take("second"), undefined);
  assert.equal(await take("second", ["first"]), 2);
  time.nowMs = LEASE_MS - 1;
  assert.equal(await take("third"), undefined);
  time.nowMs = LEASE_MS;
  assert.equal(await take("third"), 3);
});

test("a clock that was set back by hours does not keep the lease taken", async () => {
  await using store = await openMemoryStore();
  const time = { nowMs: 7_200_000 };
  assert.equal(await takeLease(leaseOf({ store, time, holder: "first" })), 1);
  time.nowMs = 0;
  assert.equal(await takeLease(leaseOf({ store, time, holder: "second" })), 2);
});

test("a store that was put back from a backup leads with an epoch that is new to all", async () => {
  await using store = await openMemoryStore();
  const time = { nowMs: 0 };
  assert.equal(await takeLease(leaseOf({ store, time, holder: "first", newestEpoch: 41 })), 42);
  time.nowMs = LEASE_MS;
  assert.equal(await takeLease(leaseOf({ store, time, holder: "second", newestEpoch: 57 })), 58);
});

test("who was replaced can neither renew nor write", async () => {
  await using store = await openMemoryStore();
  const time = { nowMs: 0 };
  const first = leaseOf({ store, time, holder: "first" });
  assert.equal(await takeLease(first), 1);
  assert.equal(await renewLease(first, 1), true);
  time.nowMs = LEASE_MS;
  assert.equal(await takeLease(leaseOf({ store, time, holder: "second" })), 2);
  assert.equal(await renewLease(first, 1), false);
  const write = (run: typeof store.transaction): Promise<unknown> =>
    run((tx) => tx.insertInto("settings").values({ name: "who", value: "first" }).execute());
  await assert.rejects(
    write((run) => asLeader({ store, epoch: 1 }, run)),
    LeadershipLostError,
  );
  await assert.rejects(write(storeOfLeader({ store, epoch: 1 }).transaction), LeadershipLostError);
  assert.deepEqual(
    await store.db.selectFrom("settings").select("value").where("name", "=", "who").execute(),
    [],
  );
  await write(storeOfLeader({ store, epoch: 2 }).transaction);
});

test("a lease that is given back is free at once", async () => {
  await using store = await openMemoryStore();
  const time = { nowMs: 1_000 };
  const first = leaseOf({ store, time, holder: "first" });
  assert.equal(await takeLease(first), 1);
  const second = leaseOf({ store, time, holder: "second" });
  assert.deepEqual(await lookAtLease(second), { holder: "first", isFree: false });
  await releaseLease(first, 1);
  assert.deepEqual(await lookAtLease(second), { holder: "first", isFree: true });
  assert.equal(await takeLease(second), 2);
  await releaseLease(first, 1); // no longer its to give
  assert.equal(await takeLease(leaseOf({ store, time, holder: "third" })), undefined);
});

test("machines with wrong clocks agree by the database's", { skip: postgresIsMissing() }, async () => {
  await using postgres = await startTestPostgres();
  await using store = await openPostgresStore({ url: postgres.url });
  const first = leaseOf({ store, time: { nowMs: Date.now() }, holder: "first" });
  const ahead = leaseOf({ store, time: { nowMs: Date.now() + 3_600_000 }, holder: "ahead" });
  const behind = leaseOf({ store, time: { nowMs: 0 }, holder: "behind" });
  assert.equal(await takeLease(first), 1);
  for (const other of [ahead, behind]) {
    assert.deepEqual(await lookAtLease(other), { holder: "first", isFree: false });
    assert.equal(await takeLease(other), undefined);
  }
});

test(
  "starts hold up a takeover of the lease, never its renewal",
  { skip: postgresIsMissing(), timeout: 20_000 },
  async () => {
    await using postgres = await startTestPostgres();
    await using store = await openPostgresStore({ url: postgres.url });
    const first = leaseOf({ store, time: { nowMs: 0 }, holder: "first" });
    const second = leaseOf({ store, time: { nowMs: 0 }, holder: "second", dead: ["first"] });
    assert.equal(await takeLease(first), 1);
    const order: string[] = [];
    const [holds, renewed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const starting = asLeader({ store, epoch: 1 }, async (tx) => {
      await tx.selectFrom("settings").selectAll().execute(); // the lock may be asked for together with what follows it
      holds.resolve();
      await renewed.promise;
      await tx.insertInto("settings").values({ name: "who", value: "first" }).execute();
      order.push("start written");
    });
    await holds.promise;
    const taking = takeLease(second).then((epoch) => order.push(`taken as ${epoch}`));
    assert.equal(await renewLease(first, 1), true);
    renewed.resolve();
    await Promise.all([starting, taking]);
    assert.deepEqual(order, ["start written", "taken as 2"]);
  },
);

test(
  "a lease is renewed while requests use every connection",
  { skip: postgresIsMissing(), timeout: 20_000 },
  async () => {
    await using postgres = await startTestPostgres();
    await using store = await openPostgresStore({ url: postgres.url, connections: 1 });
    const lease = leaseOf({ store, time: { nowMs: 0 }, holder: "first" });
    assert.equal(await takeLease(lease), 1);
    const [holds, renewed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const starting = store.transaction(async (tx) => {
      await tx.selectFrom("settings").selectAll().execute();
      holds.resolve();
      await renewed.promise;
    });
    await holds.promise;
    assert.equal(await renewLease(lease, 1).finally(renewed.resolve), true);
    await starting;
  },
);

function leaseOf(options: {
  store: LeaseOptions["store"];
  time: { nowMs: number };
  holder: string;
  dead?: string[];
  newestEpoch?: number;
}): LeaseOptions {
  const { store, time, holder, dead = [] } = options;
  return {
    store,
    holder,
    timing: { leaseMs: LEASE_MS },
    clock: { nowMs: () => time.nowMs, monotonicMs: () => time.nowMs, sleep: async () => undefined },
    isDead: (other) => dead.includes(other),
    newestEpoch: async () => options.newestEpoch ?? 0,
  };
}
