import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempDisposableSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { holderName } from "@vocalhost/store/leadership/holder";
import { openSqliteStore } from "@vocalhost/store/sqlite";
import { restoreBackup } from "./restore-backup.ts";
import { takeBackup } from "./take-backup.ts";

test("a backup removes what a killed one left, and nothing of one that is under way", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-leftovers-"));
  const at = (...names: string[]): string => join(folder.path, ...names);
  const [host, pid, start] = holderName().split("/");
  for (const [name, holder] of [
    ["killed", `${host}/${pid}/${Number(start) - 1}`],
    ["running", holderName()],
  ] as const) {
    mkdirSync(at(`.vocalhost-backup-${name}`));
    writeFileSync(at(`.vocalhost-backup-${name}`, "holder"), holder);
  }
  await (await openSqliteStore({ file: at("data", "vocalhost.db"), reserveBytes: 0 }))[Symbol.asyncDispose]();
  const config = { dataFolder: at("data"), databaseUrl: undefined };
  await takeBackup({ config, file: at("backup"), progress: () => undefined, now: new Date(0) });
  assert.deepEqual(readdirSync(folder.path).toSorted(), [".vocalhost-backup-running", "backup", "data"]);
});

// SQLite would apply the old journal to the restored database and overwrite its pages.
test("a backup is not restored beside the journal of a database that was moved away", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-restore-"));
  const at = (...names: string[]): string => join(folder.path, ...names);
  mkdirSync(at("new"));
  const file = at("backup");
  const options = {
    config: { dataFolder: at("old"), databaseUrl: undefined },
    file,
    progress: () => undefined,
  };
  {
    await using store = await openSqliteStore({ file: at("old", "vocalhost.db"), reserveBytes: 0 });
    await takeBackup({ ...options, now: new Date(0) });
    await store.db.insertInto("settings").values({ name: "written", value: "after the backup" }).execute();
    copyFileSync(at("old", "vocalhost.db-wal"), at("new", "vocalhost.db-wal"));
  }
  const config = { dataFolder: at("new"), databaseUrl: undefined };
  await assert.rejects(
    restoreBackup({ ...options, config, sdkFolder: at("sdk") }),
    /has data already \(vocalhost\.db-wal\)/,
  );
  rmSync(at("new", "vocalhost.db-wal"));
  await restoreBackup({ ...options, config, sdkFolder: at("sdk") });
  await using store = await openSqliteStore({ file: at("new", "vocalhost.db"), reserveBytes: 0 });
  const settings = await store.db.selectFrom("settings").selectAll().execute();
  assert.deepEqual(
    settings.map(({ name }) => name),
    ["store-id"],
  );
});
