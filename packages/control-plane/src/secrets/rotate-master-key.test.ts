import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtempDisposable, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openServiceSecrets } from "../main/controller/service-secrets.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { createDataKey, openDataKey } from "./encryption.ts";
import { openMasterKeyFile, type MasterKeys } from "./master-keys.ts";
import { neededMasterKeys, requireKnownMasterKeys } from "./rewrap.ts";
import { noteSealingKey, rotateMasterKey } from "./rotate-master-key.ts";

const SETS = 5;

test("a master key is replaced: first read by the service, then by all secrets, and again after an interruption", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "rotate-"));
  await using store = await openMemoryStore();
  const file = join(folder.path, "master-keys");
  const { keys } = await openMasterKeyFile(file);
  const [{ id: old }] = keys;
  assert.match(old, /^k\d{8}-[0-9a-f]{8}$/);
  for (let set = 0; set < SETS; set += 1) await seal(store, keys, `set-${set}`);
  await noteSealingKey(store, keys);
  const shown: string[] = [];
  const rotate = (isRunning: boolean, progress = (text: string) => void shown.push(text)) =>
    rotateMasterKey({ store, file, configured: undefined, isRunning, progress });

  const first = await rotate(true);
  assert.equal(first.state, "restart");
  assert.deepEqual(await neededMasterKeys(store), [old], "the running service knows no other key yet");
  const { keys: both } = await openMasterKeyFile(file);
  assert.deepEqual(
    both.map(({ id }) => id),
    [first.key, old],
  );
  await noteSealingKey(store, both);

  const interrupted = rotate(true, (text) => {
    if (text.startsWith("2 ")) throw new Error("interrupted");
  });
  await assert.rejects(interrupted, /interrupted/);
  assert.deepEqual((await neededMasterKeys(store)).toSorted(), [first.key, old].toSorted());
  assert.deepEqual(await rotate(true), { state: "done", key: first.key, where: file, moved: 3, old: [old] });
  assert.deepEqual(shown, [
    "1 of 3 versions of secrets",
    "2 of 3 versions of secrets",
    "3 of 3 versions of secrets",
  ]);
  assert.deepEqual(await neededMasterKeys(store), [first.key]);
  await requireKnownMasterKeys(store, [both[0]]);
  const row = await store.db
    .selectFrom("secretVersions")
    .selectAll()
    .where("setId", "=", "set-0")
    .executeTakeFirstOrThrow();
  openDataKey([both[0]], row, placeOf("set-0"));
});

test("a key that is lost is not replaced by another: no start, one sentence, and no file", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "lost-"));
  await using store = await openMemoryStore();
  const file = join(folder.path, "master-keys");
  const { keys } = await openMasterKeyFile(file);
  const lost = readFileSync(file, "utf8");
  await seal(store, keys, "set");
  await rm(file);
  const config = { dataFolder: folder.path, masterKeys: undefined, secret: "x".repeat(32) };
  const sentence = `Secrets need master keys that are not configured: ${keys[0].id} should be in ${file}.`;
  await assert.rejects(openServiceSecrets(config, await neededMasterKeys(store)), (error: Error) =>
    error.message.startsWith(sentence),
  );
  assert.equal(existsSync(file), false);
  const { keys: other } = await openMasterKeyFile(file); // with the id of an earlier release
  await assert.rejects(requireKnownMasterKeys(store, other, file), (error: Error) =>
    error.message.startsWith(sentence),
  );
  const [, value = ""] = readFileSync(file, "utf8").trim().split(":");
  writeFileSync(file, lost.replace(/:.*/, `:${value}`));
  await assert.rejects(openMasterKeyFile(file), /is not the one that its id names/);
});

async function seal({ db }: Store, keys: MasterKeys, setId: string): Promise<void> {
  const { wrapped } = createDataKey(keys, placeOf(setId));
  await db
    .insertInto("secretSets")
    .values({
      ...{ id: setId, organizationId: "o", name: setId, kind: "secret", region: "here", status: "ready" },
      ...{ errorMessage: null, currentVersion: 1, createdAt: 1, updatedAt: 1 },
    })
    .execute();
  await db
    .insertInto("secretVersions")
    .values({ ...wrapped, setId, version: 1, createdAt: 1 })
    .execute();
}

function placeOf(setId: string) {
  return { organizationId: "o", setId, version: 1 };
}
