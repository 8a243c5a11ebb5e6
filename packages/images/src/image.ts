import { digestOf, type Digest } from "./digest.ts";
import { mediaTypes, type ImageConfig, type ImageDefaults, type ImageManifest } from "./image-documents.ts";
import type { Layer } from "./layers/pack-layer.ts";
import { describePlatform, type Platform } from "./platform.ts";

/** An image whose layers are files of this machine. */
export interface Image {
  /** Digest of its manifest, by which it is run. */
  digest: Digest;
  manifest: Document<ImageManifest>;
  config: Document<ImageConfig>;
  layers: LayerFile[];
}

export interface Document<Content> {
  digest: Digest;
  bytes: Uint8Array;
  content: Content;
}

export type LayerFile = Pick<Layer, "digest" | "bytes" | "file"> & { mediaType: string };

export interface CreateImageOptions {
  platform: Platform;
  /** Comes below the layers, and what it says holds where `defaults` say nothing. */
  base?: Image;
  layers: readonly Layer[];
  defaults: ImageDefaults;
}

const EPOCH = "1970-01-01T00:00:00Z";

/** The same layers and settings give the same digest. */
export function createImage({ platform, base, layers, defaults }: CreateImageOptions): Image {
  if (base && base.config.content.architecture !== platform.architecture)
    throw new Error(
      `The base is for ${describePlatform(base.config.content)}, the image for ${describePlatform(platform)}`,
    );
  const config = toDocument<ImageConfig>({
    architecture: platform.architecture,
    os: platform.os,
    created: EPOCH,
    config: mergeDefaults(base?.config.content.config ?? {}, defaults),
    rootfs: {
      type: "layers",
      diff_ids: [...(base?.config.content.rootfs.diff_ids ?? []), ...layers.map(({ diffId }) => diffId)],
    },
    history: [
      ...(base?.config.content.history ?? []),
      ...layers.map(({ createdBy }) => ({ created: EPOCH, created_by: createdBy })),
    ],
  });
  const files: LayerFile[] = [
    ...(base?.layers ?? []),
    ...layers.map(({ digest, bytes, file }) => ({ digest, bytes, file, mediaType: mediaTypes.layer })),
  ];
  const manifest = toDocument<ImageManifest>({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: { mediaType: mediaTypes.config, digest: config.digest, size: config.bytes.length },
    layers: files.map(({ mediaType, digest, bytes }) => ({ mediaType, digest, size: bytes })),
  });
  return { digest: manifest.digest, manifest, config, layers: files };
}

/** Returns the number of bytes that a registry keeps and a client downloads. */
export function compressedBytes(image: Image): number {
  return image.layers.reduce((total, { bytes }) => total + bytes, image.config.bytes.length);
}

export function toDocument<Content>(content: Content): Document<Content> {
  const bytes = Buffer.from(JSON.stringify(content));
  return { digest: digestOf(bytes), bytes, content };
}

function mergeDefaults(base: ImageDefaults, own: ImageDefaults): ImageDefaults {
  const labels = { ...base.Labels, ...own.Labels };
  const merged: ImageDefaults = { ...base, ...own };
  merged.Env = [
    ...new Map([...(base.Env ?? []), ...(own.Env ?? [])].map((line) => [nameOf(line), line])).values(),
  ];
  merged.Labels = Object.fromEntries(
    Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
  return merged;
}

function nameOf(line: string): string {
  return line.split("=", 1)[0] ?? "";
}
