import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { measureDataFolder, readDiskSpace } from "./data-folder.ts";

test("the data folder is measured by area, and what is not there counts as nothing", async () => {
  const folder = await mkdtemp(join(tmpdir(), "vocalhost-areas-"));
  try {
    await mkdir(join(folder, "builds", "one", "node_modules"), { recursive: true });
    await writeFile(join(folder, "vocalhost.db"), Buffer.alloc(100_000, 1));
    await writeFile(join(folder, "vocalhost.db-wal"), Buffer.alloc(50_000, 1));
    await writeFile(join(folder, "builds", "one", "node_modules", "big.js"), Buffer.alloc(300_000, 1));
    await writeFile(join(folder, "master-keys"), "k");
    const bytes = await measureDataFolder(folder);
    assert.ok(bytes.database >= 150_000 && bytes.database < 200_000, String(bytes.database));
    assert.ok(bytes.builds >= 300_000 && bytes.builds < 350_000, String(bytes.builds));
    assert.ok(bytes.other > 0 && bytes.other < 20_000, String(bytes.other));
    assert.deepEqual([bytes.instances, bytes.uploads], [0, 0]);
    const { freeBytes, totalBytes } = await readDiskSpace(folder);
    assert.ok(freeBytes >= 0 && freeBytes <= totalBytes);
    await assert.rejects(measureDataFolder(folder, AbortSignal.abort()), { name: "AbortError" });
  } finally {
    await rm(folder, { recursive: true });
  }
  assert.deepEqual(Object.values(await measureDataFolder(folder)), [0, 0, 0, 0, 0]);
});
