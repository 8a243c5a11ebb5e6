import assert from "node:assert/strict";
import { mkdtempDisposableSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FIRST_RUN_FILE } from "../controller/first-run-file.ts";
import { firstRun } from "../controller/first-run.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import { findUnshown, markShown } from "./first-start.ts";

const later = {
  firstRun: undefined,
  publicUrl: "http://localhost:7999",
  ownerLink: "http://localhost:7999/owner#link",
};

async function startFirst() {
  const folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-first-start-"));
  await using store = await openMemoryStore();
  const made = await firstRun({ store, dataFolder: folder.path, publicUrl: "http://localhost:1", nowMs: 1 });
  assert.ok(made);
  return { folder, made };
}

test("what was made is found until it was shown, at the address of now", async () => {
  const { folder: owned, made } = await startFirst();
  using folder = owned;
  assert.deepEqual(findUnshown({ ...later, firstRun: made }, folder.path), made);
  assert.deepEqual(findUnshown(later, folder.path), {
    ...made,
    apiUrl: "http://localhost:7999/v1",
    dashboardUrl: "http://localhost:7999",
    ownerLink: later.ownerLink,
  });
  markShown(folder.path);
  assert.equal(findUnshown(later, folder.path), undefined);
  assert.deepEqual(readdirSync(folder.path), [FIRST_RUN_FILE]);
});

test("nothing is shown again to a service that has an owner, or whose keys were removed", async () => {
  const { folder: owned } = await startFirst();
  using folder = owned;
  assert.equal(findUnshown({ ...later, ownerLink: undefined }, folder.path), undefined);
  rmSync(join(folder.path, FIRST_RUN_FILE));
  assert.equal(findUnshown(later, folder.path), undefined);
});
