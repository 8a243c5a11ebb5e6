import { createHash } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { basePlaces, inLayer } from "../base/base-places.ts";
import { NODE_VERSION } from "../base/contents.ts";
import type { ImageFolder } from "../archives/image-folder.ts";
import { createImage, type Image } from "../image.ts";
import { imageLabels, readBaseFacts } from "../labels.ts";
import { folderEntries } from "../layers/folder-entries.ts";
import { inOrder, type LayerEntry } from "../layers/layer-entry.ts";
import type { Layer } from "../layers/pack-layer.ts";
import type { Platform } from "../platform.ts";
import { BuildProblem } from "../run-program.ts";
import { openBuildFolder, type BuildFolderOptions } from "../build-folder.ts";
import { installDependencies, readBotManifest, type BotManifest } from "./dependencies.ts";

export interface BotImageOptions extends BuildFolderOptions {
  images: ImageFolder;
  platform: Platform;
  /** The base image, and its name. */
  base: Image;
  baseName: string;
  /** Name of the new image. */
  name: string;
  /** The bot's. */
  folder: string;
  /** The files of the folder that go into the image, besides its packages. */
  keeps: (path: string, isDirectory: boolean) => boolean;
  /** Variables of every container of it. */
  environmentOfBot?: Readonly<Record<string, string>>;
  onStep?: (step: string) => void;
}

export interface BuiltBotImage {
  image: Image;
  /** It was there, made from the same. */
  isUnchanged: boolean;
}

const OWNER = { uid: 0, gid: 0 } as const; // a bot cannot change its own code

/** A bot's folder and the packages it needs, as two layers on the base. */
export async function buildBotImage(options: BotImageOptions): Promise<BuiltBotImage> {
  const { images, platform, base, folder, name, signal } = options;
  const step = options.onStep ?? (() => undefined);
  const at = inLayer(basePlaces.app);
  const entries = (await folderEntries({ folder, at, ...OWNER, keeps: options.keeps, signal })).filter(
    ({ path }) => path !== at,
  );
  if (!entries.some(({ kind }) => kind === "file"))
    throw new BuildProblem(`There are no files of a bot in ${folder}`);
  const environment = Object.entries(options.environmentOfBot ?? {}).map(([key, value]) => `${key}=${value}`);
  const madeFrom = await hashOf([base.digest, name, ...environment], entries);
  const found = await images.find(name, platform);
  if (found?.madeFrom === madeFrom) return { image: found, isUnchanged: true };

  const layers: Layer[] = [];
  const manifest = await readBotManifest(folder, productVersionOf(base));
  if (manifest) {
    step("installing the bot's packages");
    layers.push(await dependencyLayer(options, manifest));
  }
  step("packing the bot");
  layers.push(await images.pack({ entries, createdBy: "the bot", signal }));
  const image = createImage({
    platform,
    base,
    layers,
    defaults: {
      Env: environment,
      Labels: {
        [imageLabels.title]: name,
        [imageLabels.baseName]: options.baseName,
        [imageLabels.baseDigest]: base.digest,
      },
    },
  });
  await images.put(image, name, { madeFrom });
  return { image, isUnchanged: false };
}

/** Kept under a name of its own: most changes to a bot leave its packages alone. */
async function dependencyLayer(options: BotImageOptions, manifest: BotManifest): Promise<Layer> {
  const { images, platform, signal } = options;
  const hash = createHash("sha256")
    .update(`${NODE_VERSION}\n${manifest.manifest}\n${manifest.lock}`)
    .digest("hex");
  const name = `dependencies:${hash.slice(0, 32)}`;
  const createdBy = "the bot's packages";
  const known = await images.find(name, platform);
  const [file] = known?.layers ?? [];
  const [diffId] = known?.config.content.rootfs.diff_ids ?? [];
  if (file && diffId) return { ...file, diffId, unpackedBytes: 0, createdBy };
  const buildFolder = await openBuildFolder(options);
  const installed = await installDependencies(buildFolder, platform, manifest);
  const entries = await folderEntries({
    folder: installed,
    at: `${inLayer(basePlaces.app)}/node_modules`,
    ...OWNER,
  });
  const layer = await images.pack({ entries, createdBy, signal });
  await images.put(createImage({ platform, layers: [layer], defaults: {} }), name);
  return layer;
}

function productVersionOf(base: Image): string | undefined {
  return readBaseFacts(base.config.content.config?.Labels ?? {})?.productVersion;
}

async function hashOf(facts: readonly string[], entries: readonly LayerEntry[]): Promise<string> {
  const hash = createHash("sha256").update(facts.join("\n"));
  for (const entry of inOrder(entries)) {
    hash.update(`\n${entry.kind} ${entry.mode} ${entry.path}\n`);
    if (entry.kind === "symlink") hash.update(entry.target);
    else if (entry.kind === "file" && typeof entry.source === "string") {
      await using file = await open(entry.source);
      hash.update(
        createHash("sha256")
          .update(await readFile(file))
          .digest(),
      );
    }
  }
  return hash.digest("hex");
}
