import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { unpackTar } from "modern-tar";
import { digestOf, hexOf } from "../digest.ts";
import { thisPlatform, type Platform } from "../platform.ts";
import { makeSmallImage, openTemporaryImages } from "../testing/small-image.ts";
import { openImageFolder } from "./image-folder.ts";
import { writeArchive, type ArchiveFormat } from "./write-archive.ts";

const run = promisify(execFile);
const platform = thisPlatform();
const otherPlatform: Platform = {
  os: "linux",
  architecture: platform.architecture === "arm64" ? "amd64" : "arm64",
};

test("an image on another has its layers, and its settings where it has none of its own", async () => {
  await using folder = await openTemporaryImages();
  const image = await makeSmallImage(folder);
  const { config, rootfs, history } = image.config.content;
  assert.deepEqual(config?.Env, ["PATH=/bin", "NAME=own"]);
  assert.equal(config?.User, "10001:10001");
  assert.deepEqual(config?.Cmd, ["/srv/above"]);
  assert.deepEqual(Object.keys(config?.Labels ?? {}), [
    "io.github.vocalhost.base.version",
    "io.github.vocalhost.filter.version",
    "team",
  ]);
  assert.equal(rootfs.diff_ids.length, 2);
  assert.deepEqual(
    history?.map((step) => step.created_by),
    ["below", "above"],
  );
  await using another = await openTemporaryImages();
  assert.equal((await makeSmallImage(another)).digest, image.digest);
  assert.notEqual((await makeSmallImage(another, { text: "other" })).digest, image.digest);
});

test("a folder gives an image back by its name, and not when part of it is gone", async () => {
  await using folder = await openTemporaryImages();
  const image = await makeSmallImage(folder);
  await folder.put(await makeSmallImage(folder, { text: "older" }), "team/small:1");
  const notes = { madeFrom: "this and that" };
  await folder.put(image, "team/small:1", notes);
  const other = await makeSmallImage(folder, { platform: otherPlatform });
  await folder.put(other, "team/small:1");
  const again = await openImageFolder(folder.folder);
  const found = await again.find("team/small:1", platform);
  assert.equal(found?.digest, image.digest);
  assert.equal(found?.madeFrom, "this and that");
  assert.equal((await again.find("team/small:1", otherPlatform))?.digest, other.digest);
  assert.deepEqual(
    found?.layers.map(({ digest }) => digest),
    image.layers.map(({ digest }) => digest),
  );
  assert.equal(await again.find("team/small:2", platform), undefined);
  await rm(image.layers[0]?.file ?? "");
  assert.equal(await again.find("team/small:1", platform), undefined);
});

test("an archive for Docker names the image and holds what it refers to", async () => {
  await using folder = await openTemporaryImages();
  const image = await makeSmallImage(folder);
  const path = join(folder.folder, "docker.tar");
  await writeArchive({ image, name: "vocalhost/small:1", format: "docker", file: path });
  const files = new Map(
    (await unpackTar(await readFile(path))).map(({ header, data }) => [header.name, Buffer.from(data ?? [])]),
  );
  const [entry] = JSON.parse(String(files.get("manifest.json"))) as [
    { Config: string; RepoTags: string[]; Layers: string[] },
  ];
  assert.deepEqual(entry.RepoTags, ["docker.io/vocalhost/small:1"]);
  assert.equal(digestOf(files.get(entry.Config) ?? ""), image.config.digest);
  assert.deepEqual(
    entry.Layers.map((name) => digestOf(files.get(name) ?? "")),
    image.layers.map(({ digest }) => digest),
  );
});

for (const format of ["oci", "docker"] as const satisfies ArchiveFormat[])
  test(`skopeo reads the ${format} archive back, with the same digests`, async () => {
    await using folder = await openTemporaryImages();
    const image = await makeSmallImage(folder);
    const path = join(folder.folder, "image.tar");
    await writeArchive({ image, name: "vocalhost/small:1", format, file: path });
    const source = `${format}-archive:${path}`;
    const { stdout: config } = await run("skopeo", ["inspect", "--config", "--raw", source]);
    assert.equal(digestOf(config), image.config.digest);
    const { stdout } = await run("skopeo", ["inspect", source]);
    const seen = JSON.parse(stdout) as { Labels: Record<string, string>; Layers: string[]; Digest: string };
    assert.equal(seen.Labels["team"], "voice");
    // A docker archive has no digests of compressed layers; skopeo counts those inside.
    const { diff_ids: diffIds } = image.config.content.rootfs;
    assert.deepEqual(seen.Layers, format === "oci" ? image.layers.map(({ digest }) => digest) : diffIds);
    if (format === "oci") assert.equal(hexOf(seen.Digest as never), hexOf(image.digest));
  });
