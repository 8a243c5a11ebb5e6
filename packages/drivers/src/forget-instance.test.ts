import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { forgetInstance } from "./forget-instance.ts";

test("an object goes even if its records cannot be removed, and that is told", async () => {
  const forgotten: string[] = [];
  const records = { remove: () => Promise.reject(new Error("closed folder")) };
  const driver = { forget: async (id: string) => void forgotten.push(id) };
  await assert.rejects(forgetInstance({ driver, records }, "a"), /records of instance a .*closed folder/);
  assert.deepEqual(forgotten, ["a"]);
});

// Root may do as it likes in folders that are closed, unless it gives that up.
const AS_OTHERS =
  process.getuid?.() === 0
    ? [
        "setpriv",
        "--bounding-set=-dac_override,-dac_read_search",
        "--inh-caps=-dac_override,-dac_read_search",
      ]
    : [];
const isPossible = AS_OTHERS.length === 0 || spawnSync("setpriv", ["--version"]).status === 0;

test("folders that a bot has closed to us go like others", { timeout: 60_000, skip: !isPossible }, () => {
  const temporary = mkdtempSync(join(tmpdir(), "closed-folders-"));
  try {
    const root = join(temporary, "instances");
    const closed = [join(root, "inside/records/deep"), join(root, "inside/records"), join(root, "whole")];
    for (const folder of closed) mkdirSync(folder, { recursive: true });
    writeFileSync(join(root, "inside/records/deep/file"), "1");
    writeFileSync(join(root, "inside/last"), "1");
    for (const folder of closed) chmodSync(folder, 0);
    const program = `
      import { forgetInstance } from ${JSON.stringify(new URL("./forget-instance.ts", import.meta.url).href)};
      import { openProcessDriver } from ${JSON.stringify(new URL("./process.ts", import.meta.url).href)};
      const log = { debug() {}, info() {}, warn() {}, error() {}, child() { return log; } };
      const opened = await openProcessDriver({ folder: ${JSON.stringify(root)}, log, usesCgroups: false });
      for (const id of ["inside", "whole"]) await forgetInstance(opened, id);
    `;
    const flags = process.execArgv.filter((flag) => /condition/.test(flag));
    const [command, ...words] = [...AS_OTHERS, process.execPath, ...flags, "--input-type=module", "-e"];
    const { status, stderr } = spawnSync(command, [...words, program], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    assert.deepEqual(readdirSync(root), []);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
});
