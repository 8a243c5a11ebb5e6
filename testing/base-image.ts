import { BASE_VERSION, openImageFolder, thisPlatform, type Image, type ImageFolder } from "@vocalhost/images";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where `npm run build:base-image` leaves the image, and what it is called there. */
const MADE = fileURLToPath(new URL("../node_modules/.cache/base-image/", import.meta.url));
export const BASE_NAME = `vocalhost/base:${BASE_VERSION}`;

/** The base image of this repository for this machine. It is made before tests run; tests must not write to its folder. */
export async function requireBaseImage(): Promise<{ images: ImageFolder; image: Image; billFile: string }> {
  const platform = thisPlatform();
  const images = await openImageFolder(join(MADE, "images"));
  const image = await images.find(BASE_NAME, platform);
  if (!image) throw new Error("These tests need the base image. Make it: npm run build:base-image");
  return { images, image, billFile: join(MADE, `base-${BASE_VERSION}-${platform.architecture}.spdx.json`) };
}

/** A folder with the base in it, to build bots' images in. */
export async function copyBaseImages(): Promise<AsyncDisposable & { folder: string }> {
  const { images } = await requireBaseImage();
  const folder = await mkdtemp(join(tmpdir(), "base-images-"));
  await cp(images.folder, folder, { recursive: true });
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
