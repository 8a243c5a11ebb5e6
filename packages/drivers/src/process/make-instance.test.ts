import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { compileCache } from "../../../../testing/compiled-code.ts";
import { silentLog } from "@vocalhost/base/log";
import { writeBotProject } from "../testing/bot-project.ts";
import { specOf } from "../testing/driver-contract.ts";
import { findByFolder } from "../local/process-identity.ts";
import { openProcessDriver } from "../process.ts";

test("a process whose number cannot be written down is ended", async () => {
  const temporary = mkdtempSync(join(tmpdir(), "make-instance-"));
  try {
    const instances = join(temporary, "instances");
    await using opened = await openProcessDriver({ folder: instances, compileCache, log: silentLog });
    const project = writeBotProject(join(temporary, "project"), "export async function bot() {}");
    const spec = specOf({ kind: "build", folder: project });
    const folder = join(instances, spec.id);
    const refused = assert.rejects(opened.driver.create(spec), /could not be started/);
    while (!existsSync(join(folder, "maker.json"))) await new Promise(setImmediate);
    mkdirSync(join(folder, "process.json", "in the way"), { recursive: true });
    await refused;
    assert.equal(findByFolder(folder), undefined);
    assert.ok(!existsSync(folder));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
});
