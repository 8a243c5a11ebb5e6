import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { readBlocks } from "../../scripts/walk-docs/blocks.ts";
import { nodeFlags } from "../../testing/programs.ts";
import { runProgram } from "../harness/program.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "testing-page-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("the page about tests can be followed as it is written", async () => {
  const files = readBlocks(REPOSITORY, "docs/testing.md").filter(({ file }) => file?.endsWith(".ts"));
  assert.deepEqual(
    files.map(({ file }) => file),
    ["bot.ts", "booking.test.ts"],
  );
  for (const { file, text } of files) writeFileSync(join(folder, file!), text);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  symlinkSync(join(REPOSITORY, "node_modules"), join(folder, "node_modules"));
  const { code, output } = await runProgram("booking.test.ts", {
    workingFolder: folder,
    environment: { NODE_OPTIONS: nodeFlags.join(" "), NODE_TEST_CONTEXT: "" },
    timeoutMs: 60_000,
  });
  assert.equal(code, 0, output);
});
