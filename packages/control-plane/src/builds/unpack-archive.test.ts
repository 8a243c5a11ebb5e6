import assert from "node:assert/strict";
import { packTar, type TarEntry } from "modern-tar";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { packFolder } from "./pack-folder.ts";
import { unpackArchive, type UnpackLimits } from "./unpack-archive.ts";

test("files, folders and links within come out as they went in", async () => {
  using place = start();
  const seen = await place.unpack([
    folder("./"),
    file("bot.ts", "export const bot = 1;"),
    file("./deep/er/file", "x".repeat(100_000)),
    { header: { name: "run.sh", size: 2, mode: 0o755 }, body: "#!" },
    link("here", "deep/er/file"),
    link("deep/up", "../bot.ts"),
    link("nowhere", "missing"),
    { header: { name: "hard", size: 0, type: "link", linkname: "bot.ts" } },
    folder("empty/"),
  ]);
  assert.equal(seen.entries, 11); // two folders have no entry of their own
  assert.equal(place.read("bot.ts"), "export const bot = 1;");
  assert.equal(place.read("here").length, 100_000);
  assert.equal(place.read("deep/up"), place.read("bot.ts"));
  assert.equal(place.read("hard"), place.read("bot.ts"));
  assert.equal(readlinkSync(join(place.folder, "here")), "deep/er/file");
  assert.equal(statSync(join(place.folder, "run.sh")).mode & 0o777, 0o755);
  assert.equal(statSync(join(place.folder, "bot.ts")).mode & 0o777, 0o644);
  assert.ok(!readdirSync(place.folder).includes("nowhere"));
});

test("what would be written over the folder itself is left out, and holds up nothing", async () => {
  using place = start();
  await place.unpack([file(".", "x".repeat(1024 * 1024)), file("bot.ts", "x")]);
  assert.deepEqual(readdirSync(place.folder), ["bot.ts"]);
});

test("what would end up elsewhere is refused", async () => {
  const hostile: [string, TarEntry[], RegExp][] = [
    ["parent", [file("../evil", "x")], /leaves its folder/],
    ["parent within", [file("a/../../evil", "x")], /leaves its folder/],
    ["absolute", [file("/tmp/evil", "x")], /leaves its folder/],
    ["backslash", [file("..\\evil", "x")], /leaves its folder/],
    ["absolute link", [link("l", "/etc")], /link that leaves/],
    ["link up", [link("l", "../..")], /link that leaves/],
    ["file through a link", [link("l", ".."), file("l/evil", "x")], /link that leaves|EEXIST|twice/],
    [
      "link by links",
      [folder("deep/er/"), link("deep/er/s", "../.."), link("t", "deep/er/s/..")],
      /link that leaves/,
    ],
    [
      "hard link",
      [{ header: { name: "h", size: 0, type: "link", linkname: "../../etc/passwd" } }],
      /leaves its folder/,
    ],
    ["device", [{ header: { name: "d", size: 0, type: "character-device" } }], /character-device/],
    ["pipe", [{ header: { name: "p", size: 0, type: "fifo" } }], /fifo/],
    ["twice", [file("a", "1"), file("a", "2")], /twice/],
    ["file as folder", [file("a", "1"), file("a/b", "2")], /cannot be read/],
    ["long name", [file("x".repeat(2_000), "1")], /leaves its folder/],
    ["deep file", [file("a/".repeat(64) + "x", "1")], /path of more than 64 parts: "a\/a/],
    ["deep folder", [folder("a/".repeat(65))], /path of more than 64 parts/],
    ["deep link", [link("a/".repeat(64) + "x", "a")], /path of more than 64 parts/],
  ];
  for (const [name, entries, text] of hostile) {
    using place = start();
    await assert.rejects(place.unpack(entries), { name: "BuildProblem", message: text }, name);
    assert.ok(!existsSync(join(place.temporary, "evil")), name);
  }
});

test("limits hold while it unpacks", async () => {
  using place = start();
  const many = Array.from({ length: 20 }, (_, at) => file(`f${at}`, "1234567890"));
  await assert.rejects(place.unpack(many, { entries: 10, bytes: 1e6 }), /more than 10 entries/);
  using other = start();
  await assert.rejects(other.unpack(many, { entries: 100, bytes: 99 }), /more than 99 bytes/);
});

test("hard links count as the copies they become", async () => {
  using place = start();
  const links = Array.from({ length: 20 }, (_, at): TarEntry => ({
    header: { name: `hard${at}`, size: 0, type: "link", linkname: "big" },
  }));
  await assert.rejects(
    place.unpack([file("big", "x".repeat(10_000)), ...links], { entries: 100, bytes: 50_000 }),
    /more than 50000 bytes/,
  );
  assert.ok(readdirSync(place.folder).length <= 5);
});

test("folders that no entry names count as well, as what they take on a disk", async () => {
  const deep = Array.from({ length: 10 }, (_, at) => file(`${at}${"/a".repeat(50)}/x`, ""));
  using place = start();
  await assert.rejects(place.unpack(deep, { entries: 200, bytes: 1e9 }), /more than 200 entries/);
  assert.ok(readdirSync(place.folder, { recursive: true }).length <= 200 + 64);
  using other = start();
  await assert.rejects(other.unpack(deep, { entries: 1e6, bytes: 100 * 4_096 }), /more than 409600 bytes/);
  assert.ok(readdirSync(other.folder, { recursive: true }).length <= 100 + 64);
  using named = start();
  const folders = Array.from({ length: 20 }, (_, at) => folder(`f${at}/`));
  await assert.rejects(named.unpack(folders, { entries: 100, bytes: 10 * 4_096 }), /more than 40960 bytes/);
  using whole = start();
  const seen = await whole.unpack([
    file("a/b/x", "123"),
    folder("a/"),
    folder("a/b/"),
    folder("a/c/"),
    folder("./"),
  ]);
  assert.deepEqual(seen, { entries: 7, bytes: 3 + 3 * 4_096 });
});

test("what is no archive is refused with a sentence", async () => {
  const whole = gzipSync(await packTar([file("a", "x".repeat(10_000))]));
  for (const bytes of [
    Buffer.from("hello"),
    gzipSync("no tar at all".repeat(100)),
    whole.subarray(0, whole.length / 2),
  ]) {
    using place = start();
    await assert.rejects(place.unpackBytes(bytes), { name: "BuildProblem", message: /cannot be read/ });
  }
});

test("a folder packed twice gives the same bytes, without what does not belong to it", async () => {
  using place = start();
  for (const name of ["src", "node_modules/x", ".git"])
    mkdirSync(join(place.folder, name), { recursive: true });
  for (const name of [
    "bot.ts",
    "src/b.ts",
    "src/a.ts",
    "node_modules/x/index.js",
    ".git/HEAD",
    ".env",
    ".env.local",
  ])
    writeFileSync(join(place.folder, name), name);
  const [first, second] = [await packFolder(place.folder), await packFolder(place.folder)];
  assert.ok(first.equals(second));
  using other = start();
  await other.unpackBytes(first);
  assert.deepEqual(readdirSync(other.folder, { recursive: true }).map(String).sort(), [
    "bot.ts",
    "src",
    "src/a.ts",
    "src/b.ts",
  ]);
});

function file(name: string, body: string): TarEntry {
  return { header: { name, size: body.length }, body };
}

function folder(name: string): TarEntry {
  return { header: { name, size: 0, type: "directory" } };
}

function link(name: string, linkname: string): TarEntry {
  return { header: { name, size: 0, type: "symlink", linkname } };
}

function start() {
  const temporary = mkdtempSync(join(tmpdir(), "unpack-"));
  const inner = join(temporary, "folder");
  mkdirSync(inner);
  const unpackBytes = async (bytes: Uint8Array, limits?: UnpackLimits) => {
    writeFileSync(join(temporary, "archive.tgz"), bytes);
    return unpackArchive(join(temporary, "archive.tgz"), inner, limits);
  };
  return {
    temporary,
    folder: inner,
    unpackBytes,
    unpack: async (entries: TarEntry[], limits?: UnpackLimits) =>
      unpackBytes(gzipSync(await packTar(entries)), limits),
    read: (name: string) => readFileSync(join(inner, name), "utf8"),
    [Symbol.dispose]: () => rmSync(temporary, { recursive: true, force: true }),
  };
}
