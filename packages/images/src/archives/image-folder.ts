import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf, hexOf, type Digest } from "../digest.ts";
import { ImageConfig, ImageIndex, ImageManifest, mediaTypes, type Descriptor } from "../image-documents.ts";
import type { Document, Image } from "../image.ts";
import type { Platform } from "../platform.ts";
import { packLayer, type Layer, type PackLayerOptions } from "../layers/pack-layer.ts";

/** Images in a folder of this machine, laid out as the OCI specification says. One process at a time writes to it. */
export interface ImageFolder {
  readonly folder: string;
  pack(options: Omit<PackLayerOptions, "file">): Promise<Layer>;
  /**
   * Stores an image of layers packed here under a name. An earlier image with the same name and platform loses the
   * name.
   */
  put(image: Image, name: string, notes?: ImageNotes): Promise<void>;
  find(name: string, platform: Platform): Promise<FoundImage | undefined>;
}

export interface ImageNotes {
  /** Tells what it was made from, so that it need not be made of the same again. */
  madeFrom?: string | undefined;
}

export type FoundImage = Image & ImageNotes;

const MADE_FROM_ANNOTATION = "io.github.vocalhost.made-from";
const NAME_ANNOTATION = "org.opencontainers.image.ref.name";
const LAYOUT = JSON.stringify({ imageLayoutVersion: "1.0.0" });

export async function openImageFolder(folder: string): Promise<ImageFolder> {
  const blobs = join(folder, "blobs/sha256");
  await mkdir(blobs, { recursive: true });
  await writeWhole(join(folder, "oci-layout"), LAYOUT);
  const blobFile = (digest: Digest): string => join(blobs, hexOf(digest));
  const indexFile = join(folder, "index.json");

  async function readIndex(): Promise<ImageIndex> {
    const text = await readFile(indexFile, "utf8").catch(missing);
    return text === undefined ? { schemaVersion: 2, manifests: [] } : ImageIndex.parse(JSON.parse(text));
  }

  async function readDocument<Content>(
    { digest }: Pick<Descriptor, "digest">,
    schema: { parse: (value: unknown) => Content },
  ): Promise<Document<Content>> {
    const bytes = await readFile(blobFile(digest));
    if (digestOf(bytes) !== digest)
      throw new Error(`${blobFile(digest)} is not what its name says; remove ${folder}`);
    return { digest, bytes, content: schema.parse(JSON.parse(bytes.toString())) };
  }

  return {
    folder,
    async pack(options) {
      const aside = join(blobs, `.${randomUUID()}`);
      const layer = await packLayer({ ...options, file: aside });
      const file = blobFile(layer.digest);
      await rename(aside, file);
      return { ...layer, file };
    },
    async put(image, name, { madeFrom } = {}) {
      for (const { digest, bytes } of [image.config, image.manifest])
        await writeWhole(blobFile(digest), bytes);
      const { manifests } = await readIndex();
      const { architecture, os } = image.config.content;
      const entry: Descriptor = {
        mediaType: mediaTypes.manifest,
        digest: image.digest,
        size: image.manifest.bytes.length,
        platform: { architecture, os },
        annotations: {
          [NAME_ANNOTATION]: name,
          ...(madeFrom === undefined ? {} : { [MADE_FROM_ANNOTATION]: madeFrom }),
        },
      };
      const others = manifests.filter((other) => !isNamed(other, { name, architecture }));
      await writeWhole(indexFile, JSON.stringify({ schemaVersion: 2, manifests: [...others, entry] }));
    },
    async find(name, { architecture }) {
      const { manifests } = await readIndex();
      const entry = manifests.find((one) => isNamed(one, { name, architecture }));
      if (!entry) return undefined;
      const manifest = await readDocument(entry, ImageManifest);
      const config = await readDocument(manifest.content.config, ImageConfig);
      const layers = [];
      for (const { digest, size, mediaType } of manifest.content.layers) {
        const file = blobFile(digest);
        if ((await stat(file).catch(missing))?.size !== size) return undefined; // another program has cleaned up
        layers.push({ digest, bytes: size, file, mediaType });
      }
      const madeFrom = entry.annotations?.[MADE_FROM_ANNOTATION];
      return { digest: entry.digest, manifest, config, layers, madeFrom };
    },
  };
}

function isNamed(
  { annotations, platform }: Descriptor,
  { name, architecture }: { name: string; architecture: string },
): boolean {
  return annotations?.[NAME_ANNOTATION] === name && platform?.architecture === architecture;
}

/** Writes in one step, so that no reader sees half of the file. */
async function writeWhole(file: string, content: string | Uint8Array): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  await writeFile(aside, content);
  await rename(aside, file);
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
