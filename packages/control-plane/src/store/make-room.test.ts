import assert from "node:assert/strict";
import { test } from "node:test";
import { withRoom } from "./make-room.ts";
import { openMemoryStore } from "./sqlite.ts";
import { fromSqliteError, toSqliteError } from "./store-errors.ts";

const SQLITE_FULL = 13;

test("a transaction for which the disk has no room is tried again once there is some", async () => {
  await using memory = await openMemoryStore();
  let freeBytes = 0;
  let tries = 0;
  const store = withRoom(memory, async () => (freeBytes += 1));
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
