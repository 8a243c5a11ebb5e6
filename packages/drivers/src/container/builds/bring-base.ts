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
  /** The service makes the base there if no folder has it. */
  ownFolder: string;
  /** Folder with the product's packages. @default those of npm */
  basePackages?: string | undefined;
  /** Version of the product that goes into it. */
  productVersion: string;
  /** Environment of the programs that are started, such as npm and apt-get. */
  environment: NodeJS.ProcessEnv;
}

export const BASE_NAME = "vocalhost/base";

/** Brings the base image into the engine: from a folder, or made on this machine. */
export class BaseBringer {
  readonly #options: BaseOptions;
  readonly #loading = new Map<string, Promise<void>>();
  #making: Promise<Image> | undefined;

  constructor(options: BaseOptions) {
    this.#options = options;
  }

  /** Returns the base's id in the engine. */
  async bring(version: string, { say }: { say(line: string): void }): Promise<Digest> {
    const { engine } = this.#options;
    const name = `${BASE_NAME}:${version}`;
    let image = await this.#findInFolders(name);
    if (!image) {
      const there = await engine.inspectImage(name);
      if (there) return there.id;
      if (version !== BASE_VERSION)
        throw new ImageBuildError(
          `This service has ${BASE_NAME}:${BASE_VERSION}, not ${name}; change the Dockerfile's FROM`,
        );
      say(`There is no ${name} yet, making it; this takes minutes, once`);
      image = await this.#makeOnce(say);
    }
    const id = image.config.digest; // engines call images by it
    if (await engine.inspectImage(id)) return id;
    say(`Giving ${name} to the container engine`);
    await this.#loadOnce(image, name);
    return id;
  }

  async #findInFolders(name: string): Promise<Image | undefined> {
    const { imageFolders, ownFolder, platform } = this.#options;
    for (const folder of [...imageFolders, ownFolder]) {
      if (!existsSync(join(folder, "index.json"))) continue;
      const found = await (await openImageFolder(folder)).find(name, platform);
      if (found) return found;
    }
    return undefined;
  }

  async #makeOnce(say: (line: string) => void): Promise<Image> {
    this.#making ??= this.#make(say).finally(() => (this.#making = undefined));
    return this.#making.catch((error: unknown) => {
      throw new DriverUnavailableError(
        `The base image could not be made (${error instanceof Error ? error.message : String(error)}). ` +
          "The operator of the service can bring it: vocalhost image build --base, then " +
          `vocalhost image load ${BASE_NAME}:${BASE_VERSION}`,
        { cause: error },
      );
    });
  }

  async #make(say: (line: string) => void): Promise<Image> {
    const { ownFolder, productVersion, basePackages, platform, environment, log } = this.#options;
    const name = `${BASE_NAME}:${BASE_VERSION}`;
    await mkdir(ownFolder, { recursive: true, mode: 0o700 });
    const images = await openImageFolder(ownFolder);
    const packed = basePackages === undefined ? undefined : await readPackedProduct(basePackages);
    if (basePackages !== undefined && !packed)
      throw new Error(`VOCALHOST_BASE_PACKAGES: there are no packages in ${basePackages}`);
    const { image, billOfMaterials } = await buildBase({
      ...{ images, platform, productVersion, environment },
      workFolder: join(ownFolder, "work"),
      product: packed ?? publishedProduct(productVersion),
      onStep(step) {
        log.info({ image: name, step }, "making the base image");
        say(`${name}: ${step}`);
      },
    });
    await images.put(image, name);
    await writeFile(
      join(ownFolder, `base-${BASE_VERSION}-${platform.architecture}.spdx.json`),
      billOfMaterials,
    );
    return image;
  }

  /** Loads an image once, however many builds wait for it. */
  #loadOnce(image: Image, name: string): Promise<void> {
    const id = image.config.digest;
    const running = this.#loading.get(id) ?? this.#load(image, name).finally(() => this.#loading.delete(id));
    this.#loading.set(id, running);
    return running;
  }

  async #load(image: Image, name: string): Promise<void> {
    const { engine, log } = this.#options;
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
    }).catch((cause: unknown) => {
      throw new DriverUnavailableError(
        `The base image could not be given to the container engine: ${String(cause)}`,
        { cause },
      );
    });
  }
}
