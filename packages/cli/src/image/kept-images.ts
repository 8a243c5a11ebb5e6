import {
  describePlatform,
  openImageFolder,
  parsePlatform,
  thisPlatform,
  type Image,
  type ImageFolder,
  type Platform,
} from "@vocalhost/images";
import { join, resolve } from "node:path";
import { readImageVariables } from "../config.ts";
import { Problem } from "../problem.ts";

/** Images of this machine, where `image build` left them. */
export function openKeptImages(named: string | undefined): Promise<ImageFolder> {
  return openImageFolder(
    named === undefined ? join(readImageVariables().cacheFolder, "vocalhost/images") : resolve(named),
  );
}

export async function requireKept(images: ImageFolder, name: string, platform: Platform): Promise<Image> {
  const image = await images.find(name, platform);
  if (image) return image;
  throw new Problem(
    "image_not_built",
    `There is no image ${name} for ${describePlatform(platform)} on this machine`,
    {
      fixes: [
        `Make it: vocalhost image build --name ${name} --platform ${describePlatform(platform)}`,
        `Images are kept in ${images.folder}; name another folder with --images.`,
      ],
    },
  );
}

export function platformOf(named: string | undefined): Platform {
  return named === undefined ? thisPlatform() : parsePlatform(named);
}
