import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ImageFolder } from "../archives/image-folder.ts";
import { createImage, type Image } from "../image.ts";
import { BASE_VERSION, imageLabels } from "../labels.ts";
import type { LayerEntry } from "../layers/layer-entry.ts";
import type { Layer } from "../layers/pack-layer.ts";
import type { Platform } from "../platform.ts";
import { openBuildFolder, type BuildFolderOptions } from "../build-folder.ts";
import { basePlaces, baseUser } from "./base-places.ts";
import { writeBillOfMaterials } from "./bill-of-materials.ts";
import { makeCompileCache } from "./compile-cache.ts";
import { NODE_VERSION } from "./contents.ts";
import { makeDebianRoot } from "./debian-root.ts";
import { installProduct, makeNode, type ProductPackages } from "./npm-packages.ts";

export interface BuildBaseOptions extends BuildFolderOptions {
  images: ImageFolder;
  platform: Platform;
  product: ProductPackages;
  /** Version of the product, for its label. */
  productVersion: string;
  onStep?: (step: string) => void;
}

export interface BuiltBase {
  image: Image;
  /** The bill of materials, as an SPDX document. */
  billOfMaterials: string;
  /** Why bots start without compiled code, if they do. */
  withoutCompileCache: string | undefined;
}

const GZIP_LEVEL = 6; // 9 takes three times as long to save half a per cent

/** The base image, made without an engine and without a registry of images. */
export async function buildBase(options: BuildBaseOptions): Promise<BuiltBase> {
  const { images, platform, product, productVersion, signal } = options;
  const step = options.onStep ?? (() => undefined);
  const buildFolder = await openBuildFolder(options);
  step("installing the product's packages");
  const installed = await installProduct(buildFolder, platform, product);
  step("downloading and unpacking Debian's packages");
  const debian = await makeDebianRoot(buildFolder, platform);
  step("getting Node and npm");
  const node = withoutKnown(await makeNode(buildFolder, platform), debian.entries);
  step("compiling the product's packages");
  const own = withoutKnown(installed.entries, debian.entries);
  const cache = await makeCompileCache(buildFolder, platform, [...debian.entries, ...node, ...own]);
  const layers: Layer[] = [];
  const pack = async (entries: readonly LayerEntry[], createdBy: string): Promise<void> => {
    step(`packing ${createdBy}`);
    layers.push(await images.pack({ entries, createdBy, level: GZIP_LEVEL, signal }));
  };
  await pack(debian.entries, "Debian's packages");
  await pack(node, "Node and npm");
  await pack(own, "vocalhost and its packages");
  if (cache.made) await pack(cache.entries, "the compile cache");
  const filterVersion = installed.packages.find(({ name }) => name === "@vocalhost/viva")?.version;
  const image = createImage({
    platform,
    layers,
    defaults: {
      User: `${baseUser.uid}:${baseUser.gid}`,
      Env: [
        "PATH=/usr/local/bin:/usr/bin",
        `HOME=${baseUser.home}`,
        `NODE_VERSION=${NODE_VERSION}`,
        "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
      ],
      Entrypoint: ["node", basePlaces.entry],
      Cmd: [],
      WorkingDir: basePlaces.app,
      StopSignal: "SIGTERM",
      Labels: {
        [imageLabels.title]: "vocalhost/base",
        [imageLabels.description]: "Node and what the service adds to voice bots",
        [imageLabels.version]: BASE_VERSION,
        [imageLabels.licenses]: "Apache-2.0",
        [imageLabels.source]: "https://github.com/vocalhost/vocalhost",
        [imageLabels.baseVersion]: BASE_VERSION,
        [imageLabels.productVersion]: productVersion,
        ...(filterVersion === undefined ? {} : { [imageLabels.filterVersion]: filterVersion }),
      },
    },
  });
  await rm(join(buildFolder.folder, `root-${platform.architecture}`), { recursive: true, force: true });
  const billOfMaterials = writeBillOfMaterials({
    name: "vocalhost/base",
    version: BASE_VERSION,
    platform,
    debian: debian.packages,
    npm: installed.packages,
  });
  return { image, billOfMaterials, withoutCompileCache: cache.made ? undefined : cache.reason };
}

/** Folders that an earlier layer has are not packed again. */
function withoutKnown(entries: readonly LayerEntry[], known: readonly LayerEntry[]): LayerEntry[] {
  const paths = new Set(known.flatMap((entry) => (entry.kind === "directory" ? [entry.path] : [])));
  return entries.filter(({ kind, path }) => kind !== "directory" || !paths.has(path));
}
