import {
  BASE_VERSION,
  buildBase,
  publishedProduct,
  readPackedProduct,
  type Image,
  type ImageFolder,
  type Platform,
  type ProductPackages,
} from "@vocalhost/images";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { childEnvironment, readImageVariables } from "../config.ts";
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
  const folder = packages ?? readImageVariables().basePackages;
  const product = folder === undefined ? publishedProduct(version) : await packed(resolve(folder));
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

async function packed(folder: string): Promise<ProductPackages> {
  const found = await readPackedProduct(folder);
  if (found) return found;
  throw usageProblem(
    `There are no packages in ${folder}`,
    "Put what npm pack makes of vocalhost and @vocalhost/viva there, and of what they need of ours.",
  );
}
