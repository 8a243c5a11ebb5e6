import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findBot } from "./run-dev.ts";

const folder = mkdtempSync(join(tmpdir(), "vocalhost-find-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("finds the bot that is named, or else the usual one, and leaves the flags", () => {
  assert.throws(() => findBot([], folder), { code: "bot_not_found", message: "There is no bot here" });
  mkdirSync(join(folder, "src/agent.ts.d"), { recursive: true });
  writeFileSync(join(folder, "src/agent.ts"), "");
  writeFileSync(join(folder, "bot.mjs"), "");
  const table: [string[], file: string, flags: string[]][] = [
    [[], "bot.mjs", []],
    [["-t", "websocket"], "bot.mjs", ["-t", "websocket"]],
    [["-t", "websocket", "src/agent.ts", "--x"], "src/agent.ts", ["-t", "websocket", "--x"]],
    [["src/agent.ts"], "src/agent.ts", []],
    [["--file=src/agent.ts"], "bot.mjs", ["--file=src/agent.ts"]],
  ];
  for (const [words, file, flags] of table)
    assert.deepEqual(findBot(words, folder), { file: join(folder, file), flags });
  assert.throws(() => findBot(["other.ts"], folder), { message: "other.ts does not exist" });
});
