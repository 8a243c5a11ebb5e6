import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readProject } from "./read-project.ts";

const folder = mkdtempSync(join(tmpdir(), "vocalhost-project-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("no file means nothing is said; a named one must be there", async () => {
  assert.deepEqual(await readProject(folder), { path: undefined, folder, config: {} });
  await assert.rejects(readProject(folder, "other.toml"), { name: "Problem", code: "config_unreadable" });
  mkdirSync(join(folder, "sub/vocalhost.toml"), { recursive: true });
  await assert.rejects(readProject(join(folder, "sub")), { name: "Problem", code: "config_unreadable" });
});

test("paths start where the file is, and problems name it as the user would", async () => {
  mkdirSync(join(folder, "bots"));
  writeFileSync(join(folder, "bots/a.toml"), 'region = "eu"');
  assert.deepEqual(await readProject(folder, "bots/a.toml"), {
    path: join(folder, "bots/a.toml"),
    folder: join(folder, "bots"),
    config: { region: "eu" },
  });
  writeFileSync(join(folder, "bots/b.toml"), "regio = 1");
  await assert.rejects(readProject(folder, "bots/b.toml"), {
    message: /^bots\/b\.toml, line 1: unknown key/,
  });
});
