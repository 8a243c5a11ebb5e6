import {
  BASE_VERSION,
  buildBase,
  loadIntoEngine,
  openImageFolder,
  publishedProduct,
  readPackedProduct,
  type Digest,
  type Image,
  type Platform,
} from "@vocalhost/images";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "@vocalhost/base/log";
import { DriverUnavailableError } from "../../driver.ts";
import { ImageBuildError } from "../../image-builder.ts";
import type { Engine } from "../engine.ts";

export interface BaseOptions {
  engine: Engine;
  platform: Platform;
  log: Log;
  /** Folders of images that the base may be in, as `vocalhost image build --base` leaves it. */
  imageFolders: readonly string[];
  /** Where we make it ourselves. */
  ownFolder: string;
  /** Folder with the product's packages. @default those of npm */
  basePackages?: string | undefined;
  /** Of the product that goes into it. */
  productVersion: string;
  /** Of programs that are started: npm, apt-get and the like. */
  environment: NodeJS.ProcessEnv;
}

export const BASE_NAME = "vocalhost/base";

/** Gives the base's id in the engine, and brings it there first if need be. */
export interface BaseBringer {
  bring(version: string, options: { say(line: string): void }): Promise<Digest>;
}

export function createBaseBringer(options: BaseOptions): BaseBringer {
  const { engine, platform, log } = options;
  let making: Promise<Image> | undefined;
  const loading = new Map<string, Promise<void>>();

  async function findInFolders(name: string): Promise<Image | undefined> {
    for (const folder of [...options.imageFolders, options.ownFolder]) {
      if (!existsSync(join(folder, "index.json"))) continue;
      const found = await (await openImageFolder(folder)).find(name, platform);
      if (found) return found;
    }
    return undefined;
  }

  async function load(image: Image, name: string): Promise<void> {
    let tenths = 0;
    await loadIntoEngine({
      socket: engine.socket,
      image,
      name,
      onProgress(done) {
        if (Math.floor(done * 10) <= tenths) return;
        tenths = Math.floor(done * 10);
        log.info({ image: name, percent: tenths * 10 }, "giving the base image to the container engine");
      },
    }).catch((error: unknown) => {
      throw new DriverUnavailableError(
        `The base image could not be given to the container engine: ${String(error)}`,
        {
          cause: error,
        },
      );
    });
  }

  /** Many builds may want it at once. */
  function once(id: string, work: () => Promise<void>): Promise<void> {
    const running = loading.get(id) ?? work().finally(() => loading.delete(id));
    loading.set(id, running);
    return running;
  }

  async function make(say: (line: string) => void): Promise<Image> {
    const name = `${BASE_NAME}:${BASE_VERSION}`;
    await mkdir(options.ownFolder, { recursive: true, mode: 0o700 });
    const images = await openImageFolder(options.ownFolder);
    const { productVersion, basePackages } = options;
    const packed = basePackages === undefined ? undefined : await readPackedProduct(basePackages);
    if (basePackages !== undefined && !packed)
      throw new Error(`VOCALHOST_BASE_PACKAGES: there are no packages in ${basePackages}`);
    const { image, billOfMaterials } = await buildBase({
      images,
      workFolder: join(options.ownFolder, "work"),
      platform,
      product: packed ?? publishedProduct(productVersion),
      productVersion,
      environment: options.environment,
      onStep(step) {
        log.info({ image: name, step }, "making the base image");
        say(`${name}: ${step}`);
      },
    });
    await images.put(image, name);
    const bill = join(options.ownFolder, `base-${BASE_VERSION}-${platform.architecture}.spdx.json`);
    await writeFile(bill, billOfMaterials);
    return image;
  }

  return {
    async bring(version, { say }) {
      const name = `${BASE_NAME}:${version}`;
      let image = await findInFolders(name);
      if (!image) {
        const there = await engine.inspectImage(name);
        if (there) return there.id;
        if (version !== BASE_VERSION)
          throw new ImageBuildError(
            `This service has ${BASE_NAME}:${BASE_VERSION}, not ${name}; change the Dockerfile's FROM`,
          );
        say(`There is no ${name} yet, making it; this takes minutes, once`);
        making ??= make(say).finally(() => (making = undefined));
        image = await making.catch((error: unknown) => {
          throw new DriverUnavailableError(
            `The base image could not be made (${error instanceof Error ? error.message : String(error)}). ` +
              `Whoever runs the service can bring it: vocalhost image build --base, then vocalhost image load ${name}`,
            { cause: error },
          );
        });
      }
      const id = image.config.digest; // engines call images by it
      const known = await engine.inspectImage(id);
      if (known) return id;
      say(`Giving ${name} to the container engine`);
      const found = image;
      await once(id, () => load(found, name));
      return id;
    },
  };
}
