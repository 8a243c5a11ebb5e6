import assert from "node:assert/strict";
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigError } from "@vocalhost/base/config-error";
import { openSqliteStore } from "./sqlite.ts";

const PAGE_BYTES = 4_096;

test("a damaged file is told with one sentence, when it is opened or when a statement finds it", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-damaged-"));
  const file = join(folder.path, "vocalhost.db");
  const told: ConfigError[] = [];
  const open = () => openSqliteStore({ file, reserveBytes: 0, damaged: (error) => void told.push(error) });
  {
    await using store = await open();
    const values = Array.from({ length: 200 }, (_, at) => ({ name: `n${at}`, value: "x".repeat(2_000) }));
    await store.db.insertInto("settings").values(values).execute();
  }
  const bytes = readFileSync(file);
  bytes.fill(0xa5, bytes.length - 20 * PAGE_BYTES);
  writeFileSync(file, bytes);
  {
    await using store = await open();
    const found = store.db.selectFrom("settings").selectAll().execute();
    await assert.rejects(
      found,
      (error) => error instanceof ConfigError && /is damaged.*vocalhost restore/.test(error.message),
    );
    assert.equal(told.length, 1);
  }
  writeFileSync(file, "no database at all, and long enough to be read as one".repeat(100));
  await assert.rejects(open(), (error) => error instanceof ConfigError && /is damaged/.test(error.message));
});
