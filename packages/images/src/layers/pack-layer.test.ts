import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { unpackTar } from "modern-tar";
import { digestOf } from "../digest.ts";
import { directory, file, temporaryFolder } from "../testing/small-image.ts";
import { folderEntries } from "./folder-entries.ts";
import { packLayer } from "./pack-layer.ts";

const LONG_NAME = `${"folder-with-a-name/".repeat(10)}ünïcode-${"x".repeat(120)}`;

test("two folders with the same files give the same digest, whoever made them and when", async () => {
  await using temporary = await temporaryFolder();
  const digests = [];
  for (const [name, files] of [
    ["one", ["a.txt", "b/run.sh", LONG_NAME]],
    ["other", [LONG_NAME, "b/run.sh", "a.txt"]],
  ] as const) {
    const root = join(temporary.path, name);
    for (const path of files) {
      await mkdir(join(root, path, ".."), { recursive: true });
      await writeFile(join(root, path), `content of ${path}`);
    }
    await symlink("../a.txt", join(root, "b/link"));
    await chmod(join(root, "b/run.sh"), name === "one" ? 0o700 : 0o775);
    await utimes(join(root, "a.txt"), digests.length, digests.length);
    const entries = await folderEntries({ folder: root, at: "app", uid: 7, gid: 8 });
    const layer = await packLayer({ entries, file: `${root}.tar.gz`, createdBy: name });
    const bytes = await readFile(layer.file);
    assert.equal(layer.digest, digestOf(bytes));
    assert.equal(layer.diffId, digestOf(gunzipSync(bytes)));
    assert.deepEqual([layer.bytes, layer.unpackedBytes], [bytes.length, gunzipSync(bytes).length]);
    digests.push(layer.digest);
  }
  assert.equal(digests[0], digests[1]);
});

test("a layer holds what it was given, in order, with owners, modes and no times", async () => {
  await using temporary = await temporaryFolder();
  const path = join(temporary.path, "layer");
  const big = join(temporary.path, "big");
  await writeFile(big, Buffer.alloc(3_000_000, 7));
  const owner = { uid: 10_001, gid: 10_002 };
  const layer = await packLayer({
    entries: [
      { kind: "file", path: "app/big", source: big, mode: 0o755, ...owner },
      file("app/empty", ""),
      { kind: "symlink", path: "app/link", target: "/usr/bin/env", mode: 0o777, ...owner },
      directory("app"),
      file(`app/${LONG_NAME}`, "long"),
    ],
    file: path,
    createdBy: "test",
  });
  const entries = await unpackTar(gunzipSync(await readFile(layer.file)));
  assert.deepEqual(
    entries.map(({ header }) => header.name),
    ["app/", "app/big", "app/empty", `app/${LONG_NAME}`, "app/link"],
  );
  const [, first, empty, long, link] = entries;
  assert.deepEqual(
    [first?.header.mode, first?.header.uid, first?.header.gid, first?.data?.length],
    [0o755, 10_001, 10_002, 3_000_000],
  );
  assert.equal(empty?.data?.length, 0);
  assert.equal(Buffer.from(long?.data ?? []).toString(), "long");
  assert.deepEqual([link?.header.type, link?.header.linkname], ["symlink", "/usr/bin/env"]);
  assert.ok(entries.every(({ header }) => header.mtime?.getTime() === 0));
});

test("what is wrong with a layer is said, and nothing is left of it", async () => {
  await using temporary = await temporaryFolder();
  const path = join(temporary.path, "layer");
  const wrong = [
    { entries: [file("a", "1"), file("a", "2")], message: /twice/ },
    { entries: [file("../a", "1")], message: /not a path inside/ },
    { entries: [file("/a", "1")], message: /not a path inside/ },
    {
      entries: [{ kind: "file" as const, path: "a", source: "/no/such/file", mode: 0, uid: 0, gid: 0 }],
      message: /ENOENT/,
    },
  ];
  for (const { entries, message } of wrong) {
    await assert.rejects(packLayer({ entries, file: path, createdBy: "test" }), message);
    assert.deepEqual(await readdir(temporary.path), []);
  }
  const stopped = { signal: AbortSignal.abort() };
  await assert.rejects(packLayer({ entries: [file("a", "1")], file: path, createdBy: "test", ...stopped }));
  assert.deepEqual(await readdir(temporary.path), []);
});
