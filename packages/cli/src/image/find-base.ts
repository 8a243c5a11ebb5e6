import {
  BASE_VERSION,
  buildBase,
  LockFile,
  type Image,
  type ImageFolder,
  type Platform,
} from "@vocalhost/images";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { childEnvironment } from "../config.ts";
import type { CommandContext } from "../define-command.ts";
import { usageProblem } from "../problem.ts";
import { version } from "../version.ts";

export const BASE_NAME = `vocalhost/base:${BASE_VERSION}`;

export interface BaseOptions {
  images: ImageFolder;
  platform: Platform;
  /** Folder with our packages, packed. */
  packages: string | undefined;
  fresh: boolean | undefined;
}

/** The base that is there, or a new one. */
export async function findBase(options: BaseOptions, context: CommandContext): Promise<Image> {
  const found = await options.images.find(BASE_NAME, options.platform);
  const isAsked = options.fresh === true || options.packages !== undefined;
  return found && !isAsked ? found : makeBase(options, context);
}

export function billFile(images: ImageFolder, { architecture }: Platform): string {
  return join(images.folder, `base-${BASE_VERSION}-${architecture}.spdx.json`);
}

async function makeBase(
  { images, platform, packages }: BaseOptions,
  context: CommandContext,
): Promise<Image> {
  const { ui, signal } = context;
  const product = packages === undefined ? published() : await packed(resolve(packages));
  const { image, billOfMaterials, withoutCompileCache } = await ui.task(`Making ${BASE_NAME}`, (update) =>
    buildBase({
      images,
      workFolder: join(images.folder, "work"),
      platform,
      product,
      productVersion: version,
      environment: childEnvironment(),
      onStep: (step) => update(undefined, step),
      signal,
    }),
  );
  if (withoutCompileCache !== undefined)
    ui.note(`Bots will start a little later, because the base has no compile cache: ${withoutCompileCache}.`);
  await images.put(image, BASE_NAME);
  await writeFile(billFile(images, platform), billOfMaterials);
  return image;
}

function published(): { specs: string[] } {
  return { specs: [`vocalhost@${version}`, `@vocalhost/viva@${version}`] };
}

async function packed(folder: string): Promise<{ specs: string[]; lock?: LockFile }> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".tgz"));
  if (names.length === 0)
    throw usageProblem(
      `There are no packages in ${folder}`,
      "Put what npm pack makes of vocalhost and @vocalhost/viva there, and of what they need of ours.",
    );
  const specs = names.toSorted().map((name) => join(folder, name));
  const lock = join(folder, "package-lock.json");
  return existsSync(lock)
    ? { specs, lock: LockFile.parse(JSON.parse(await readFile(lock, "utf8"))) }
    : { specs };
}
