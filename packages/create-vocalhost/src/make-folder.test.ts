import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FolderError, makeFolder } from "./make-folder.ts";

const root = mkdtempSync(join(tmpdir(), "create-vocalhost-"));
after(() => rmSync(root, { recursive: true, force: true }));
const files = new Map([
  ["a.txt", "a"],
  ["b/c.txt", "c"],
]);

test("what is kept stays, what is not leaves no trace", async () => {
  const kept = join(root, "kept");
  {
    await using folder = await makeFolder(kept);
    await folder.write(files);
    folder.keep();
  }
  assert.equal(readFileSync(join(kept, "b/c.txt"), "utf8"), "c");
  {
    await using folder = await makeFolder(join(root, "deep/er/gone"));
    await folder.write(files);
    assert.ok(existsSync(join(root, "deep/er/gone/a.txt")));
  }
  assert.equal(existsSync(join(root, "deep")), false);
});

test("an empty folder that was there is left there, empty", async () => {
  const empty = join(root, "empty");
  mkdirSync(empty);
  {
    await using folder = await makeFolder(empty);
    await folder.write(files);
  }
  assert.deepEqual(readdirSync(empty), []);
});

test("nothing of the user's is touched", async () => {
  const full = join(root, "full");
  mkdirSync(full);
  writeFileSync(join(full, ".hidden"), "mine");
  await assert.rejects(makeFolder(full), FolderError);
  writeFileSync(join(root, "file"), "mine");
  await assert.rejects(makeFolder(join(root, "file")), FolderError);
  await assert.rejects(makeFolder(join(root, "file/below")), FolderError);
  assert.deepEqual(readdirSync(full), [".hidden"]);
  assert.equal(readFileSync(join(root, "file"), "utf8"), "mine");
});
