import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "@vocalhost/base/log";
import type { InstanceRow } from "@vocalhost/store/schema";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { instanceRow } from "@vocalhost/store/testing/store-contract";
import { createMediaPorts } from "./media-ports.ts";

const range = { first: 40_000, last: 40_002 };

async function addInstance(store: Store, index: number, row: Partial<InstanceRow>): Promise<void> {
  await store.db
    .insertInto("instances")
    .values({ ...instanceRow(index), ...row })
    .execute();
}

test("each instance gets a port of its own, in turn, and gives it back with its end", async () => {
  await using store = await openMemoryStore();
  const ports = createMediaPorts({ range, log: silentLog });
  const take = () => store.transaction((tx) => ports.take({ store, tx }));
  for (const [index, expected] of [40_000, 40_001, 40_002].entries()) {
    const mediaPort = await take();
    assert.equal(mediaPort, expected);
    await addInstance(store, index, { state: "busy", mediaPort: expected });
  }
  assert.equal(await take(), "used-up");
  for (const state of ["stopped", "lost"] as const) {
    await store.db.updateTable("instances").set({ state }).where("mediaPort", "=", 40_001).execute();
    assert.equal(await take(), 40_001, state);
  }
  await store.db
    .updateTable("instances")
    .set({ state: "draining" })
    .where("mediaPort", "=", 40_002)
    .execute();
  await store.db.updateTable("instances").set({ state: "stopped" }).where("mediaPort", "=", 40_000).execute();
  assert.equal(
    await take(),
    40_000,
    "after 40001 come those that no instance has; one that drains has its own",
  );
});

// The stores lock differently.
eachStore((open) => {
  test("the store refuses a port that two live instances would have", async () => {
    await using store = await open();
    await addInstance(store, 0, { state: "busy", mediaPort: 40_000 });
    await addInstance(store, 1, { state: "stopped", mediaPort: 40_000 });
    await addInstance(store, 2, { state: "ready", mediaPort: null });
    await assert.rejects(addInstance(store, 3, { state: "ready", mediaPort: 40_000 }), /unique/i);
  });

  test("twenty made at once get twenty ports", async () => {
    await using store = await open();
    const ports = createMediaPorts({ range: { first: 40_000, last: 40_019 }, log: silentLog });
    const make = (index: number) =>
      store.transaction(async (tx) => {
        const mediaPort = await ports.take({ store, tx });
        if (mediaPort === "used-up") return undefined;
        await tx
          .insertInto("instances")
          .values({ ...instanceRow(index), mediaPort })
          .execute();
        return mediaPort;
      });
    const made = await Promise.all(Array.from({ length: 22 }, (_, index) => make(index)));
    assert.equal(new Set(made.filter((port) => port !== undefined)).size, 20);
    assert.equal(made.filter((port) => port === undefined).length, 2);
  });
});

test("a borrowed port goes to no instance until it is released", async () => {
  await using store = await openMemoryStore();
  const ports = createMediaPorts({ range: { first: 40_000, last: 40_000 }, log: silentLog });
  const take = () => store.transaction((tx) => ports.take({ store, tx }));
  const borrowed = await ports.borrow(store.db);
  assert.equal(borrowed?.port, 40_000);
  assert.equal(await take(), "used-up");
  assert.equal(await ports.borrow(store.db), undefined);
  borrowed[Symbol.dispose]();
  assert.equal(await take(), 40_000);
});

test("without ports configured instances have none", async () => {
  await using store = await openMemoryStore();
  const ports = createMediaPorts({ range: undefined, log: silentLog });
  assert.equal(await store.transaction((tx) => ports.take({ store, tx })), null);
  assert.equal(await ports.borrow(store.db), undefined);
});
