import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { until } from "../../../../testing/wait.ts";
import { identityOf, isRunning } from "@vocalhost/drivers/local/process-identity";
import { builderEnvironment } from "./config.ts";
import { packFolder } from "./pack-folder.ts";

const SLOW_NPM = '#!/bin/sh\necho "builder $PPID npm $$"\nsleep 300\n';

test("a build ends with the controller that was killed, npm and all", { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-builder-"));
  try {
    for (const name of ["bot", "target", "programs"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, "bot/bot.ts"), "export const bot = () => undefined;");
    writeFileSync(join(folder, "bot/package.json"), '{"dependencies":{"left-pad":"1.3.0"}}');
    writeFileSync(join(folder, "programs/npm"), SLOW_NPM, { mode: 0o755 });
    const archive = join(folder, "bot.tgz");
    writeFileSync(archive, await packFolder(join(folder, "bot")));
    const task = { archive, folder: join(folder, "target"), dockerfilePath: "Dockerfile", sdkFolder: folder };
    const program = `
      import { runBuilder } from ${JSON.stringify(new URL("./run-builder.ts", import.meta.url).href)};
      await runBuilder({
        task: ${JSON.stringify({ ...task, allowsForeignPackages: false, makes: "folder" })},
        timeoutMs: 60_000, say: (line) => console.log(line), signal: new AbortController().signal,
      });`;
    const environment = builderEnvironment();
    const controller = spawn(
      process.execPath,
      ["--conditions=@vocalhost/source", "--input-type=module-typescript", "--eval", program],
      {
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...environment, PATH: `${join(folder, "programs")}:${environment["PATH"]}` },
      },
    );
    const pids: number[] = [];
    for await (const line of createInterface({ input: controller.stdout })) {
      const found = /^builder (\d+) npm (\d+)/.exec(line);
      if (!found) continue;
      pids.push(...found.slice(1).map(Number));
      break;
    }
    const processes = pids.map(identityOf);
    assert.deepEqual(processes.map(isRunning), [true, true]);
    controller.kill("SIGKILL");
    await until(() => !processes.some(isRunning), 10_000, "end of builder and npm");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
