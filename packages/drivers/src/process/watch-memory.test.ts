import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { compileCache } from "../../../../testing/compiled-code.ts";
import { silentLog } from "@vocalhost/base/log";
import { writeBotProject } from "../testing/bot-project.ts";
import { exited, specOf } from "../testing/driver-contract.ts";
import { openProcessDriver } from "../process.ts";

const GREEDY = {
  "in its heap": `const kept = []; for (;;) kept.push({ all: String(kept.length).repeat(20) });`,
  "outside of it": `export async function bot() {} const kept = []; setInterval(() => kept.push(Buffer.alloc(32 * 1024 * 1024, 1)), 5);`,
  "in a program it starts": `export async function bot() {}
    const { spawn } = await import("node:child_process");
    spawn(process.execPath, ["-e", "const kept = []; setInterval(() => kept.push(Buffer.alloc(32 * 1024 * 1024, 1)), 5)"], { stdio: "ignore" });
    setInterval(() => undefined, 1e6);`,
};

for (const [where, bot] of Object.entries(GREEDY))
  test(`without control groups a bot that takes too much memory ${where} is ended for that`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "watch-memory-"));
    try {
      const options = { folder: join(folder, "instances"), usesCgroups: false, compileCache, log: silentLog };
      await using opened = await openProcessDriver(options);
      const { driver } = opened;
      const source = { kind: "build" as const, folder: writeBotProject(join(folder, "project"), bot) };
      const spec = { ...specOf(source), memoryMib: 256 };
      await driver.create(spec);
      const { exit } = await exited(driver);
      // V8 may be first, when it is in its heap.
      const { outOfMemory, lastOutput = "" } = exit ?? {};
      assert.ok(outOfMemory || /JavaScript heap out of memory/.test(lastOutput), JSON.stringify(exit));
      await driver.forget(spec.id);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
