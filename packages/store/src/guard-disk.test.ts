import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "@vocalhost/base/log";
import { guardDisk } from "./guard-disk.ts";
import { openMemoryStore } from "./sqlite.ts";
import type { Store, TransactionOptions } from "./store.ts";
import { diskIsFull, fromSqliteError, toSqliteError } from "./store-errors.ts";

const SQLITE_FULL = 13;

test("the options of a transaction pass the guard", async () => {
  await using memory = await openMemoryStore();
  const asked: (TransactionOptions | undefined)[] = [];
  const watched: Store = {
    ...memory,
    transaction(run, options) {
      asked.push(options);
      return memory.transaction(run, options);
    },
  };
  const store = guardDisk(watched, { makeSpace: async () => 0, log: silentLog });
  await store.transaction(async () => undefined, { limitMs: 1_000 });
  await store.transaction(async () => undefined);
  assert.deepEqual(asked, [{ limitMs: 1_000 }, undefined]);
});

test("a transaction for which the disk has no room is tried again once there is some", async () => {
  await using memory = await openMemoryStore();
  let freeBytes = 0;
  let tries = 0;
  const store = guardDisk(memory, { makeSpace: async () => (freeBytes += 1), log: silentLog });
  const write = (neededBytes: number): Promise<string> =>
    store.transaction(async () => {
      tries += 1;
      if (freeBytes < neededBytes) throw fromSqliteError(toSqliteError("full", SQLITE_FULL));
      return "written";
    });
  assert.equal(await write(2), "written");
  assert.equal(tries, 3);
  await assert.rejects(write(100), { code: "SERVICE_UNAVAILABLE", message: "The disk is full" });
  const other = store.transaction(() => Promise.reject(new Error("something else")));
  await assert.rejects(other, /something else/);
});

test("what can wait is refused on a full disk, and room is made for the rest", async () => {
  await using memory = await openMemoryStore();
  let isFull = true;
  const full: Store = {
    ...memory,
    isDiskFull: () => isFull,
    requireDiskSpace() {
      if (isFull) throw diskIsFull();
    },
  };
  let made = 0;
  const store = guardDisk(full, { makeSpace: async () => (made += 1), log: silentLog });
  for (let asked = 0; asked < 3; asked += 1)
    assert.throws(() => store.requireDiskSpace(), {
      code: "SERVICE_UNAVAILABLE",
      message: "The disk is full",
    });
  assert.equal(made, 1, "once for all who ask at the same time");
  isFull = false;
  store.requireDiskSpace();
});
