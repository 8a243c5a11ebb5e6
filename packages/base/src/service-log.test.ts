import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { fillDisk, mountIsMissing, mountSmallDisk } from "../../../testing/small-disk.ts";
import { until as untilTrue, within } from "../../../testing/wait.ts";

const LINES = 20_000;
const SERVICE_LOG = fileURLToPath(new URL("./service-log.ts", import.meta.url));
const PROGRAM = `
  import { createServiceLog } from ${JSON.stringify(SERVICE_LOG)};
  const log = createServiceLog({ config: { logLevel: "info", logFormat: undefined }, process: "test" });
  process.stdin.once("data", () => {
    for (let line = 0; line < ${LINES}; line += 1) log.info({ line }, "a line of the log");
    process.stdout.write("text of a program");
    setTimeout(() => process.stderr.write("written"), 1_500); // the log has been tried again meanwhile
    process.stdin.once("data", () => process.exit(0));
  });
  log.info({}, "begins");
`;

test(
  "a full disk under the log ends nothing; lines wait, and those that were lost are counted",
  {
    skip: mountIsMissing(),
  },
  async () => {
    using disk = mountSmallDisk("8m");
    const file = join(disk.folder, "log");
    const out = openSync(file, "a");
    const args = ["--conditions=@vocalhost/source", "--input-type=module", "--eval", PROGRAM];
    const child = spawn(process.execPath, args, { stdio: ["pipe", out, "pipe"] });
    closeSync(out);
    const ended = once(child, "exit");
    try {
      await until(/begins/);
      fillDisk(disk.folder, "filler");
      child.stdin!.write("go");
      const [said] = (await within(Promise.race([once(child.stderr!, "data"), ended]), 20_000, "lines")) as [
        unknown,
      ];
      assert.equal(String(said), "written");
      rmSync(join(disk.folder, "filler"));
      const text = await until(/"code":"ENOSPC".*"msg":"log could not be written for a while"/);
      const lines = text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { line?: number; lost?: number });
      const written = lines.filter(({ line }) => line !== undefined).length;
      const lost = lines.find((line) => line.lost !== undefined)?.lost ?? 0;
      assert.ok(lost > 0 && written > 0);
      assert.equal(written + lost, LINES);
      child.stdin!.write("end");
      assert.deepEqual(await within(ended, 10_000, "end"), [0, null]);
    } finally {
      child.kill("SIGKILL");
      await ended;
    }

    async function until(wanted: RegExp): Promise<string> {
      return untilTrue(
        () => {
          const text = readFileSync(file, "utf8");
          return wanted.test(text) && text;
        },
        20_000,
        String(wanted),
      );
    }
  },
);
