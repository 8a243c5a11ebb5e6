import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { hexOf } from "../digest.ts";
import { mediaTypes, type Descriptor } from "../image-documents.ts";
import type { Image } from "../image.ts";
import { formatImageReference, parseImageReference } from "../image-reference.ts";
import type { LayerEntry } from "../layers/layer-entry.ts";
import { writeTar } from "../layers/write-tar.ts";

/** `docker`: what `docker load` and `podman load` take. `oci`: what Podman, skopeo and containerd take. */
export type ArchiveFormat = "docker" | "oci";

export interface ArchiveOptions {
  image: Image;
  /** Name of the loaded image, `repo/name:tag`. */
  name: string;
  format: ArchiveFormat;
  signal?: AbortSignal | undefined;
}

/** The bytes of an archive, for a file or straight into an engine. */
export function streamArchive({ image, name, format, signal }: ArchiveOptions): Readable {
  const entries = format === "docker" ? dockerEntries(image, name) : ociEntries(image, name);
  return writeTar(entries, signal);
}

export async function writeArchive(options: ArchiveOptions & { file: string }): Promise<void> {
  try {
    await pipeline(streamArchive(options), createWriteStream(options.file), { signal: options.signal });
  } catch (error) {
    await rm(options.file, { force: true });
    throw error;
  }
}

function dockerEntries(image: Image, name: string): LayerEntry[] {
  const configName = `${hexOf(image.config.digest)}.json`;
  const layerName = (digest: Image["digest"]): string => `${hexOf(digest)}.tar.gz`;
  const manifest = [
    {
      Config: configName,
      RepoTags: [loadedName(name)],
      Layers: image.layers.map(({ digest }) => layerName(digest)),
    },
  ];
  return [
    jsonFile("manifest.json", manifest),
    file(configName, image.config.bytes),
    ...uniqueLayers(image).map((layer) => file(layerName(layer.digest), layer.file)),
  ];
}

function ociEntries(image: Image, name: string): LayerEntry[] {
  const { architecture, os } = image.config.content;
  const entry: Descriptor = {
    mediaType: mediaTypes.manifest,
    digest: image.digest,
    size: image.manifest.bytes.length,
    platform: { architecture, os },
    annotations: {
      "io.containerd.image.name": loadedName(name),
      "org.opencontainers.image.ref.name": loadedName(name),
    },
  };
  const blob = (digest: Image["digest"]): string => `blobs/sha256/${hexOf(digest)}`;
  return [
    jsonFile("index.json", { schemaVersion: 2, manifests: [entry] }),
    jsonFile("oci-layout", { imageLayoutVersion: "1.0.0" }),
    directory("blobs"),
    directory("blobs/sha256"),
    file(blob(image.digest), image.manifest.bytes),
    file(blob(image.config.digest), image.config.bytes),
    ...uniqueLayers(image).map((layer) => file(blob(layer.digest), layer.file)),
  ];
}

/** An image may hold a layer twice, an archive must not. */
function uniqueLayers(image: Image): Image["layers"] {
  return [...new Map(image.layers.map((layer) => [layer.digest, layer])).values()];
}

/** The whole of it: of shorter ones Docker and Podman make different names. */
function loadedName(name: string): string {
  return formatImageReference({ ...parseImageReference(name), digest: undefined });
}

function file(path: string, source: string | Uint8Array): LayerEntry {
  return { kind: "file", path, source, mode: 0o644, uid: 0, gid: 0 };
}

function directory(path: string): LayerEntry {
  return { kind: "directory", path, mode: 0o755, uid: 0, gid: 0 };
}

function jsonFile(path: string, content: unknown): LayerEntry {
  return file(path, Buffer.from(JSON.stringify(content)));
}
