import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { createIgnoreRules } from "./ignore-rules.ts";
import { packFolder } from "./pack-folder.ts";

function folderOf(t: TestContext, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-pack-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

test("secrets, history and installed packages are never packed, whatever the ignore file says", async (t) => {
  const folder = folderOf(t, {
    "bot.ts": "",
    ".env": "KEY=1",
    ".env.local": "KEY=1",
    "certificate/server.key": "",
    "node_modules/a/index.js": "",
    "lib/node_modules/b/index.js": "",
    ".git/HEAD": "",
    ".dockerignore": "!.env\n!node_modules\ndocs/\n*.md\n!keep.md",
    "docs/page.txt": "",
    "readme.md": "",
    "keep.md": "",
    "src/answer.ts": "",
  });
  const { files } = await packFolder({ folder, exclude: ["/src/answer.ts"] });
  assert.deepEqual(files, [".dockerignore", "bot.ts", "keep.md"]);
});

test("the same files give the same bytes, whenever they were written; tar reads them back", async (t) => {
  const long = `${"deep/".repeat(40)}file.txt`;
  const odd = "naïve – ü.txt";
  const texts = { "bot.ts": "export {}", "run.sh": "#!/bin/sh", [long]: "far", [odd]: "strange" };
  const [one, other] = [folderOf(t, texts), folderOf(t, texts)];
  for (const folder of [one, other]) chmodSync(join(folder, "run.sh"), 0o750);
  utimesSync(join(other, "bot.ts"), 1, 1);
  symlinkSync("bot.ts", join(one, "link.ts"));
  const packed = await packFolder({ folder: one, exclude: [] });
  assert.deepEqual(packed.archive, (await packFolder({ folder: other, exclude: [] })).archive);
  assert.match(packed.contextHash, /^[0-9a-f]{16}$/);
  assert.deepEqual(packed.linksLeftOut, ["link.ts"]);

  const into = folderOf(t, {});
  const { status, stderr } = spawnSync("tar", ["-xz", "-C", into], {
    input: packed.archive,
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  const listed = spawnSync("diff", ["-r", one, into, "--exclude=link.ts"], { encoding: "utf8" });
  assert.equal(listed.stdout, "");
  const modes = spawnSync("tar", ["-tvz"], { input: packed.archive, encoding: "utf8" }).stdout;
  assert.match(modes, /^-rwxr-xr-x 0\/0 .* run\.sh$/m);
  assert.match(modes, /^-rw-r--r-- 0\/0 .* bot\.ts$/m);
});

test("a folder without files, and no folder, are told", async (t) => {
  const empty = folderOf(t, { ".env": "" });
  await assert.rejects(packFolder({ folder: empty, exclude: [] }), /There are no files to build/);
  await assert.rejects(packFolder({ folder: join(empty, "x"), exclude: [] }), /There is no folder/);
});

test("patterns mean what they mean in ignore files", () => {
  const rows: [pattern: string, path: string, isFolder: boolean, expect: boolean][] = [
    ["docs", "docs", true, true],
    ["docs", "src/docs", true, true],
    ["/docs", "src/docs", true, false],
    ["docs/", "docs", false, false],
    ["*.md", "a/b/c.md", false, true],
    ["src/*.ts", "src/bot.ts", false, true],
    ["src/*.ts", "src/inner/bot.ts", false, false],
    ["src/**/*.ts", "src/inner/bot.ts", false, true],
    ["./a", "a", false, true],
    ["# a", "a", false, false],
  ];
  for (const [pattern, path, isFolder, expect] of rows)
    assert.equal(createIgnoreRules([pattern])(path, isFolder), expect, `${pattern} on ${path}`);
});
