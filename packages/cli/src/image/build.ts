import {
  BASE_VERSION,
  buildBase,
  buildBotImage,
  compressedBytes,
  describePlatform,
  parseImageReference,
  publishedProduct,
  readPackedProduct,
  writeArchive,
  type Image,
  type ImageFolder,
  type Platform,
  type ProductPackages,
} from "@vocalhost/images";
import { instanceVariables } from "@vocalhost/protocol";
import { existsSync } from "node:fs";
import { copyFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { childEnvironment, readImageVariables } from "../config.ts";
import type { CommandContext } from "../define-command.ts";
import { createIgnoreRules } from "../deploy/ignore-rules.ts";
import { ignoreFileLines } from "../deploy/pack-folder.ts";
import { usageProblem } from "../problem.ts";
import { readProject } from "../project/read-project.ts";
import { shownBytes } from "../results.ts";
import { version } from "../version.ts";
import type { BuildOptions } from "./image-options.ts";
import { openKeptImages, platformOf, withImageProblems } from "./images.ts";

interface Built {
  image: Image;
  name: string;
  isUnchanged: boolean;
}

/** `vocalhost image build` */
export async function build(options: BuildOptions, context: CommandContext): Promise<number> {
  const { ui, signal } = context;
  const platform = platformOf(options.platform);
  if (options.base && (options.folder !== undefined || options.bot !== undefined))
    throw usageProblem("The base holds no bot", "Leave out the folder and --bot, or leave out --base.");
  const images = await openKeptImages(options.images);
  const built = await withImageProblems(() =>
    options.base
      ? buildTheBase(options, { images, platform, context })
      : buildBot(options, { images, platform, context }),
  );
  const { image, name } = built;
  const files: string[] = [];
  if (options.output !== undefined) {
    const file = resolve(options.output);
    await ui.task(`Writing ${options.output}`, () =>
      withImageProblems(() => writeArchive({ image, name, format: options.format, file, signal })),
    );
    files.push(file);
  }
  if (options.base) {
    const bill = billFile(images, platform);
    if (options.output === undefined) files.push(bill);
    else {
      await copyFile(bill, `${resolve(options.output)}.spdx.json`);
      files.push(`${resolve(options.output)}.spdx.json`);
    }
  }
  const facts = {
    name,
    digest: image.digest,
    platform: describePlatform(platform),
    bytes: compressedBytes(image),
    files,
  };
  if (context.isJson) ui.print(JSON.stringify({ ok: true, ...facts, isUnchanged: built.isUnchanged }));
  else {
    ui.print(`${name}  ${facts.platform}, ${shownBytes(facts.bytes)} compressed`);
    ui.print(`${image.digest}${built.isUnchanged ? "  as before" : ""}`);
    for (const file of files) ui.print(file);
    if (!options.base && options.output === undefined)
      ui.note(`Next: vocalhost image push ${name}, or vocalhost image load ${name}`);
  }
  return 0;
}

interface Surroundings {
  images: ImageFolder;
  platform: Platform;
  context: CommandContext;
}

async function buildTheBase(options: BuildOptions, { context, ...place }: Surroundings): Promise<Built> {
  const before = await place.images.find(BASE_NAME, place.platform);
  const image = await findBase({ ...place, packages: options.packages, fresh: options.fresh }, context);
  return { image, name: BASE_NAME, isUnchanged: before?.digest === image.digest };
}

async function buildBot(options: BuildOptions, { images, platform, context }: Surroundings): Promise<Built> {
  const project = await readProject(options.folder ?? process.cwd());
  const folder = resolve(
    project.folder,
    options.folder === undefined ? (project.config.build?.context_dir ?? ".") : ".",
  );
  if (!existsSync(folder)) throw usageProblem(`There is no folder ${folder}`);
  if (options.bot !== undefined && !existsSync(join(folder, options.bot)))
    throw usageProblem(
      `There is no file ${join(folder, options.bot)}`,
      "--bot names a file of the bot's folder.",
    );
  const name =
    options.name ??
    project.config.image ??
    `${nameFrom(project.config.agent_name ?? basename(folder))}:latest`;
  if (parseImageReference(name).digest !== undefined)
    throw usageProblem(`${name} has a digest`, "An image is named before it has one: registry/name:tag.");
  const base = await findBase(
    { images, platform, packages: options.packages, fresh: options.fresh },
    context,
  );
  const patterns = project.config.build?.exclude?.patterns ?? [];
  const output = options.output === undefined ? undefined : resolve(options.output);
  const isLeftOut = createIgnoreRules([...(await ignoreFileLines(folder)), ...patterns]);
  const { image, isUnchanged } = await context.ui.task(`Making ${name}`, (update) =>
    buildBotImage({
      images,
      platform,
      base,
      baseName: BASE_NAME,
      name,
      folder,
      keeps: (path, isDirectory) => !isLeftOut(path, isDirectory) && join(folder, path) !== output,
      environmentOfBot: options.bot === undefined ? {} : { [instanceVariables.bot]: options.bot },
      workFolder: join(images.folder, "work"),
      environment: childEnvironment(),
      onStep: (step) => update(undefined, step),
      signal: context.signal,
    }),
  );
  return { image, name, isUnchanged };
}

/** Names of images are lower case, and more. */
function nameFrom(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "") || "bot"
  );
}

const BASE_NAME = `vocalhost/base:${BASE_VERSION}`;

interface BaseOptions {
  images: ImageFolder;
  platform: Platform;
  /** Folder with our packages, packed. */
  packages: string | undefined;
  fresh: boolean | undefined;
}

/** The base that is there, or a new one. */
async function findBase(options: BaseOptions, context: CommandContext): Promise<Image> {
  const found = await options.images.find(BASE_NAME, options.platform);
  const isAsked = options.fresh === true || options.packages !== undefined;
  return found && !isAsked ? found : makeBase(options, context);
}

function billFile(images: ImageFolder, { architecture }: Platform): string {
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
