import assert from "node:assert/strict";
import { test } from "node:test";
import type { Driver, SeenInstance } from "@vocalhost/drivers/driver";
import type { InstanceRecords } from "@vocalhost/drivers/instance-records";
import { silentLog } from "@vocalhost/base/log";
import { exited, instance, running, session } from "../../reconciler/testing/check-plan.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { createTestClock } from "@vocalhost/base/testing/test-clock";
import type { World } from "../../sessions/world.ts";
import { endAllSessions } from "./end-all-sessions.ts";

test("nothing that has ended is left behind, whatever its row says", async () => {
  await using store = await openStore();
  await addInstances(store, { drained: "draining", recycled: "stopped" });
  const { end, drained, forgotten } = setUp(store, [exited("recycled", 0), exited("drained", 0)]);
  await end();
  assert.deepEqual(forgotten.sort(), ["drained", "recycled"]);
  assert.deepEqual(drained.sort(), ["drained", "recycled"]);
});

test("what a session that is still open left behind stays, for whoever closes it", async () => {
  await using store = await openStore();
  await addInstances(store, { needed: "busy", recycled: "stopped" });
  await store.db
    .insertInto("sessions")
    .values(session({ id: "open", state: "stopping", instanceId: "needed", stopRequestedAt: 1 }))
    .execute();
  const { end, forgotten } = setUp(store, [exited("needed", 0), exited("recycled", 0)]);
  await end();
  assert.deepEqual(forgotten, ["recycled"]);
});

test("what will not end stays, and what cannot be read is told of and keeps no other", async () => {
  await using store = await openStore();
  await addInstances(store, { stuck: "draining", broken: "stopped", recycled: "stopped" });
  const { end, forgotten, told } = setUp(
    store,
    [exited("broken", 0), running("stuck"), exited("recycled", 0)],
    { unreadable: "broken" },
  );
  await end();
  assert.deepEqual(forgotten, ["recycled"]);
  assert.deepEqual(told, ["some instances could not be forgotten; the next start will try again"]);
});

test("nobody waits for a region that is away", async () => {
  await using store = await openStore();
  const objects = [
    exited("here", 0),
    { ...exited("away", 0), region: "far" },
    { ...running("on"), region: "far" },
  ];
  const { end, drained, forgotten, destroyed } = setUp(store, objects, { away: "far" });
  await end();
  assert.deepEqual([drained, forgotten, destroyed], [["here"], ["here"], []]);
});

async function openStore(): Promise<Store> {
  const store = await openMemoryStore();
  await store.db.insertInto("leader").values({ id: 1, holder: "we", epoch: 1, until: 0 }).execute();
  return store;
}

async function addInstances(
  { db }: Store,
  states: Record<string, ReturnType<typeof instance>["state"]>,
): Promise<void> {
  for (const [id, state] of Object.entries(states))
    await db.insertInto("instances").values(instance({ id, state })).execute();
}

function setUp(store: Store, objects: SeenInstance[], options: { unreadable?: string; away?: string } = {}) {
  const drained: string[] = [];
  const forgotten: string[] = [];
  const destroyed: string[] = [];
  const told: string[] = [];
  const clock = createTestClock();
  const driver: Partial<Driver> = {
    list: async () => objects,
    destroy: async (id) => void destroyed.push(id),
    ...(options.away === undefined
      ? {}
      : { regional: { codes: [], in: () => driver as Driver, away: () => new Set([options.away!]) } }),
    forget: async (id) => void forgotten.push(id),
  };
  const records: Partial<InstanceRecords> = { remove: async () => undefined };
  const log = { ...silentLog, warn: (_fields: object, sentence: string) => void told.push(sentence) };
  const world: Partial<World> = {
    ...{ store, clock, log, epoch: 1 },
    driver: driver as Driver,
    records: records as InstanceRecords,
  };
  const end = (): Promise<void> =>
    endAllSessions({
      world: world as World,
      nudge: () => void (clock.monotonic += 1_000), // time passes, and no session closes
      madeAll: async () => undefined,
      output: {
        drain: async (id) => {
          if (id === options.unreadable) throw new Error("its output is a folder");
          drained.push(id);
        },
      },
    });
  return { end, drained, forgotten, destroyed, told };
}
