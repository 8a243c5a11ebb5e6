import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../../testing/wait.ts";
import { openSqliteStore } from "./sqlite.ts";
import { agentRow, countAgents } from "./testing/store-contract.ts";
import type { Store } from "./store.ts";

const MIB = 1024 * 1024;

for (const inThread of [true, false])
  test(`a full disk ${inThread ? "" : "(in place) "}is survived`, { skip: mountIsMissing() }, async () => {
    using disk = mountSmallDisk();
    const file = join(disk.folder, "store.db");
    const open = (): Promise<Store> => openSqliteStore({ file, inThread, diskCheckMs: 20 });
    let written = 0;
    {
      await using store = await open();
      const write = async (): Promise<void> => {
        const row = agentRow(`${written}`, { region: "x".repeat(20_000) });
        await store.transaction((tx) => tx.insertInto("agents").values(row).execute());
        written += 1;
      };
      await write();
      assert.equal(store.isDiskFull(), false);
      fillDisk(disk.folder);

      while (!store.isDiskFull()) await write(); // the reserve steps in without an error
      const writtenOnReserve = written + 20;
      while (written < writtenOnReserve) await write();

      fillDisk(disk.folder, "more");
      await assert.rejects(
        (async () => {
          for (let count = 0; count < 1_000; count += 1) await write();
        })(),
        (error: Error & { code?: string }) =>
          error.code === "SERVICE_UNAVAILABLE" && error.message === "The disk is full",
      );
      const single = store.db.insertInto("agents").values(agentRow("single", { region: "x".repeat(MIB) }));
      await assert.rejects(single.execute(), /The disk is full/);
      assert.equal(await countAgents(store), written);

      rmSync(join(disk.folder, "filler-more"));
      rmSync(join(disk.folder, "filler"));
      await write();
      await until(() => !store.isDiskFull(), 10_000, "room on the disk");
      assert.ok(existsSync(`${file}.ballast`));
      await write();
    }
    fillDisk(disk.folder);
    await using store = await open();
    assert.equal(await countAgents(store), written);
  });

test(
  "each of a crowd of writes that finds the disk full is told so",
  { skip: mountIsMissing() },
  async () => {
    using disk = mountSmallDisk();
    await using store = await openSqliteStore({ file: join(disk.folder, "store.db"), diskCheckMs: 60_000 });
    fillDisk(disk.folder);
    const told = new Set<unknown>();
    let written = 0;
    const write = async (id: string): Promise<void> => {
      const row = agentRow(id, { region: "x".repeat(50_000) });
      await store
        .transaction((tx) => tx.insertInto("agents").values(row).execute())
        .then(
          () => (written += 1),
          (error: Error) => told.add(error.message),
        );
    };
    for (let crowd = 0; crowd < 50 && told.size === 0; crowd += 1)
      await Promise.all(Array.from({ length: 10 }, (_, index) => write(`${crowd}-${index}`)));
    assert.deepEqual([...told], ["The disk is full"]);
    assert.equal(await countAgents(store), written);
  },
);

function fillDisk(folder: string, name = ""): void {
  const file = join(folder, name ? `filler-${name}` : "filler");
  writeFileSync(file, "");
  for (const size of [MIB, 4096])
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: "a" });
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
    }
}

function mountSmallDisk(): Disposable & { folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", folder]);
  return {
    folder,
    [Symbol.dispose]() {
      execFileSync("umount", [folder]);
      void rm(folder, { recursive: true });
    },
  };
}

function mountIsMissing(): string | undefined {
  if (process.getuid?.() !== 0) return "needs root to mount a small disk";
  try {
    using disk = mountSmallDisk();
    return disk.folder ? undefined : "no folder";
  } catch {
    return "a small disk cannot be mounted here";
  }
}
