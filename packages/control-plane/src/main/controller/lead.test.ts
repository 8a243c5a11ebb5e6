import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "@vocalhost/base/log";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import { defaultTiming } from "@vocalhost/base/timing";
import { openLease } from "./lead.ts";

const { leaseMs } = defaultTiming;
const AWAY_MS = 4 * leaseMs;

test("a leader that could not renew while the store was away keeps its place", async () => {
  await using rig = await startRig();
  const ending = new AbortController();
  const waiting = rig.lease.wait(ending.signal);
  rig.at(AWAY_MS + leaseMs / 2, () => rig.renew());
  rig.at(AWAY_MS + leaseMs + leaseMs / 4, () => ending.abort());
  assert.equal(await waiting, undefined);
  assert.ok(rig.looks > 10);
});

test("one that does not come back with the store is followed after the time of a lease", async () => {
  await using rig = await startRig();
  const leadership = await rig.lease.wait(new AbortController().signal);
  assert.equal(leadership?.epoch, 8);
  assert.ok(rig.passedMs() >= AWAY_MS + leaseMs && rig.passedMs() < AWAY_MS + leaseMs + 1_000);
});

/** A standby whose store is unreachable for a while; time passes only while it waits. */
async function startRig() {
  const opened = await openMemoryStore();
  const clock = createTestClock();
  const events: { atMs: number; run(): unknown }[] = [];
  const at = (atMs: number, run: () => unknown): void => void events.push({ atMs, run });
  let isAway = true;
  let looks = 0;
  const store: Store = {
    ...opened,
    get db() {
      looks += 1;
      if (isAway) throw new Error("the store is away");
      return opened.db;
    },
  };
  async function sleep(ms: number): Promise<void> {
    clock.monotonic += ms;
    clock.now += ms;
    for (const event of events.splice(0)) {
      if (event.atMs <= clock.monotonic) await event.run();
      else events.push(event);
    }
  }
  const renew = async (): Promise<void> =>
    void (await opened.db
      .updateTable("leader")
      .set({ until: clock.now + leaseMs })
      .execute());
  const row = { id: 1, holder: "another-machine/1/1", epoch: 7, until: clock.now + leaseMs };
  await opened.db.insertInto("leader").values(row).execute();
  at(AWAY_MS, () => (isAway = false));
  const lease = openLease({
    store,
    clock: { ...clock, nowMs: () => clock.now, monotonicMs: () => clock.monotonic, sleep },
    timing: { ...defaultTiming, sharedFolderMs: Infinity },
    log: silentLog,
    newestEpoch: async () => 0,
    dataFolder: "",
  });
  return {
    lease,
    at,
    renew,
    passedMs: () => clock.monotonic,
    get looks() {
      return looks;
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}
