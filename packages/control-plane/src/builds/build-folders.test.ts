import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createBuildFolders } from "./build-folders.ts";

const skip = process.getuid?.() === 0 ? false : "only root has users for bots";

test("a build made before bots had users is opened to reading, and to nothing else", { skip }, async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), "build-folders-"));
  try {
    const folder = join(dataFolder, "builds", "build");
    const outside = join(dataFolder, "secret");
    mkdirSync(join(folder, "src"), { recursive: true, mode: 0o700 });
    for (const path of [join(folder, "src/bot.ts"), outside]) writeFileSync(path, "", { mode: 0o600 });
    writeFileSync(join(folder, "run.sh"), "");
    symlinkSync(outside, join(folder, "link"));
    const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
    const folders = createBuildFolders({
      dataFolder,
      objectStore: undefined,
      sdkFolder: "/sdk",
      hasUsers: true,
    });
    assert.deepEqual(await Promise.all([folders.bring("build"), folders.bring("build")]), [folder, folder]);
    assert.deepEqual(
      ["", "src", "src/bot.ts", "run.sh"].map((name) => modeOf(join(folder, name))),
      ["755", "755", "644", "644"],
    );
    assert.equal(modeOf(outside), "600", "a link names it");
  } finally {
    rmSync(dataFolder, { recursive: true, force: true });
  }
});
