import assert from "node:assert/strict";
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openSqliteStore } from "@vocalhost/store/sqlite";
import { findRegions } from "./find-regions.ts";

const NEW = [{ code: "this-machine", displayName: "This machine" }];
const FORMER = [{ code: "us-west", displayName: "This machine" }];

test("one region that says what it is; a store that knows it by its former code keeps that", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-regions-"));
  await using store = await openSqliteStore({ file: join(folder.path, "store.db"), reserveBytes: 64 * 1024 });
  assert.deepEqual(await findRegions(store.db, undefined), NEW);

  const set = { organizationId: "o", name: "keys", kind: "secret", status: "ready" } as const;
  const times = { currentVersion: 1, createdAt: 1, updatedAt: 1 };
  const insert = (id: string, region: string) =>
    store.db
      .insertInto("secretSets")
      .values({ ...set, ...times, id, region, name: id, errorMessage: null, host: null })
      .execute();
  await insert("new", "this-machine");
  assert.deepEqual(await findRegions(store.db, undefined), NEW);
  await insert("old", "us-west");
  assert.deepEqual(await findRegions(store.db, undefined), FORMER);

  const configured = [{ code: "eu-central", displayName: "Frankfurt" }];
  assert.deepEqual(await findRegions(store.db, configured), configured);
});
