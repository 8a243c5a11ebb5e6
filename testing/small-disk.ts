import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MIB = 1024 * 1024;

export function mountSmallDisk(size: string): Disposable & { folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs", folder]);
  return {
    folder,
    [Symbol.dispose]() {
      execFileSync("umount", ["--lazy", folder]); // a program that has been killed may not have ended yet
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Why tests of a full disk have to be left out. */
export function mountIsMissing(): string | undefined {
  if (process.getuid?.() !== 0) return "needs root to mount a small disk";
  try {
    using disk = mountSmallDisk("1m");
    return disk.folder ? undefined : "no folder";
  } catch {
    return "a small disk cannot be mounted here";
  }
}

export function fillDisk(folder: string, name: string): void {
  for (const size of [MIB, 4_096])
    try {
      for (;;) writeFileSync(join(folder, name), Buffer.alloc(size), { flag: "a" });
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
    }
}
