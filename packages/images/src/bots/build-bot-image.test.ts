import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { unpackTar } from "modern-tar";
import { createImage, type Image } from "../image.ts";
import type { ImageFolder } from "../archives/image-folder.ts";
import { imageLabels } from "../labels.ts";
import { thisPlatform } from "../platform.ts";
import { environmentForTests } from "../testing/config.ts";
import { startNpmRegistry } from "../testing/npm-registry.ts";
import { directory, openTemporaryImages, temporaryFolder } from "../testing/small-image.ts";
import { buildBotImage, type BuiltBotImage } from "./build-bot-image.ts";
import { accepts } from "./dependencies.ts";

const platform = thisPlatform();

test("a bot that needs what the base has is one small layer on it, and the same each time", async () => {
  await using images = await openTemporaryImages();
  await using bot = await temporaryFolder();
  await writeFile(join(bot.path, "bot.ts"), "export async function bot() {}");
  await writeFile(join(bot.path, "package.json"), `{ "dependencies": { "vocalhost": "^0.1.0" } }`);
  await mkdir(join(bot.path, "node_modules"));
  await writeFile(join(bot.path, "node_modules/left-out"), "");
  const first = await build(images, bot.path);
  assert.deepEqual(await namesIn(first.image, 1), ["app/bot.ts", "app/package.json"]);
  assert.equal(first.image.layers.length, 2);
  const { config } = first.image.config.content;
  assert.deepEqual(config?.Entrypoint, ["node", "/start.js"]);
  assert.deepEqual(config?.Env, ["PATH=/usr/bin", "WHICH=this one"]);
  assert.equal(config?.Labels?.[imageLabels.baseName], "test/base:1");
  assert.equal(config?.Labels?.[imageLabels.baseVersion], "0.2.0");

  const again = await build(images, bot.path);
  assert.deepEqual([again.isUnchanged, again.image.digest], [true, first.image.digest]);
  await using elsewhere = await openTemporaryImages();
  assert.equal((await build(elsewhere, bot.path)).image.digest, first.image.digest);

  await writeFile(join(bot.path, "bot.ts"), "export async function bot() { /* new */ }");
  const changed = await build(images, bot.path);
  assert.equal(changed.isUnchanged, false);
  assert.notEqual(changed.image.digest, first.image.digest);
});

test("a bot's packages are a layer of their own, installed once", async () => {
  await using images = await openTemporaryImages();
  await using bot = await temporaryFolder();
  await using registry = await startNpmRegistry({ name: "greeting", code: "module.exports = 'hello'" });
  await writeFile(join(bot.path, "bot.ts"), "import 'greeting'");
  const dependencies = { vocalhost: "0.1.0", greeting: "^1.0.0" };
  await writeFile(join(bot.path, "package.json"), JSON.stringify({ dependencies }));
  const first = await build(images, bot.path, registry.url);
  assert.deepEqual(await namesIn(first.image, 1), [
    "app/node_modules/",
    "app/node_modules/greeting/",
    "app/node_modules/greeting/index.js",
    "app/node_modules/greeting/package.json",
  ]);
  await writeFile(join(bot.path, "bot.ts"), "import 'greeting'; // again");
  const second = await build(images, bot.path, registry.url);
  assert.equal(second.image.layers[1]?.digest, first.image.layers[1]?.digest);
  assert.notEqual(second.image.layers[2]?.digest, first.image.layers[2]?.digest);
  assert.equal(registry.downloads(), 1);
  await using elsewhere = await openTemporaryImages();
  assert.equal((await build(elsewhere, bot.path, registry.url)).image.digest, second.image.digest);
});

test("what cannot become an image is said", async () => {
  await using images = await openTemporaryImages();
  await using bot = await temporaryFolder();
  await assert.rejects(build(images, bot.path), /no files of a bot/);
  await writeFile(join(bot.path, "bot.ts"), "");
  await writeFile(join(bot.path, "package.json"), "{");
  await assert.rejects(build(images, bot.path), /package\.json cannot be read/);
  await writeFile(join(bot.path, "package.json"), `{ "dependencies": { "mine": "file:../mine" } }`);
  await assert.rejects(build(images, bot.path), /needs mine from file:\.\.\/mine, which no registry has/);
});

test("ranges take the versions that npm says they take", () => {
  const table: [string, string, boolean][] = [
    ["*", "0.1.0", true],
    ["latest", "0.1.0", true],
    ["0.1.0", "0.1.0", true],
    ["0.1.0", "0.1.1", false],
    ["^0.1.0", "0.1.4", true],
    ["^0.1.4", "0.1.0", false],
    ["^0.1.0", "0.2.0", false],
    ["^0.0.3", "0.0.4", false],
    ["^1.2.3", "1.3.0", true],
    ["^1.2.3", "1.2.2", false],
    ["^1.2.3", "2.0.0", false],
    ["~1.2.3", "1.2.9", true],
    ["~1.2.3", "1.3.0", false],
    [">=0.1.0", "0.1.0", false], // not worth understanding: such a bot brings its own
    ["file:../sdk", "0.1.0", false],
  ];
  for (const [range, version, expected] of table)
    assert.equal(accepts(range, version), expected, `${range} takes ${version}`);
});

async function build(
  images: ImageFolder,
  folder: string,
  registry = "http://127.0.0.1:9",
): Promise<BuiltBotImage> {
  const layer = await images.pack({ entries: [directory("app")], createdBy: "base" });
  const base = createImage({
    platform,
    layers: [layer],
    defaults: {
      Env: ["PATH=/usr/bin"],
      Entrypoint: ["node", "/start.js"],
      Labels: { [imageLabels.baseVersion]: "0.2.0", [imageLabels.productVersion]: "0.1.0" },
    },
  });
  await using work = await temporaryFolder();
  return await buildBotImage({
    images,
    platform,
    base,
    baseName: "test/base:1",
    name: "test/bot:1",
    folder,
    keeps: (path) => path !== "node_modules",
    environmentOfBot: { WHICH: "this one" },
    workFolder: work.path,
    environment: environmentForTests({
      npm_config_registry: registry,
      npm_config_cache: join(work.path, "cache"),
    }),
  });
}

async function namesIn(image: Image, layer: number): Promise<string[]> {
  const bytes = gunzipSync(await readFile(image.layers[layer]?.file ?? ""));
  return (await unpackTar(bytes)).map(({ header }) => header.name);
}
