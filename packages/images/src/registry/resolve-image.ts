import { digestOf, type Digest } from "../digest.ts";
import { ImageConfig, ImageIndex, ImageManifest, mediaTypes, type Descriptor } from "../image-documents.ts";
import { ImageError } from "../image-error.ts";
import { formatImageReference, parseImageReference, type ImageReference } from "../image-reference.ts";
import { describePlatform, type Platform } from "../platform.ts";
import {
  createRegistrySession,
  parseJson,
  type RegistryOptions,
  type RegistrySession,
} from "./registry-session.ts";

/** The image that a reference means at this moment. */
export interface ResolvedImage {
  /** `registry/repository@sha256:…`: means the same for ever. */
  pinned: string;
  /** Digest of the manifest for the platform. */
  digest: Digest;
  platform: Platform;
  labels: Record<string, string>;
  config: ImageConfig;
  /** Bytes to download if none of the layers is there. */
  compressedBytes: number;
}

export interface ResolveOptions extends RegistryOptions {
  platform: Platform;
}

const MANIFEST_MAX_BYTES = 4 * 1024 * 1024; // what registries themselves allow
const CONFIG_MAX_BYTES = 8 * 1024 * 1024;
const INDEXES: string[] = [mediaTypes.index, mediaTypes.dockerIndex];
const MANIFESTS: string[] = [mediaTypes.manifest, mediaTypes.dockerManifest];

/** Asks a registry for the digest behind a tag, and what the image says about itself. Nothing is pulled. */
export async function resolveImage(image: string, options: ResolveOptions): Promise<ResolvedImage> {
  const reference = parseImageReference(image);
  const { registry, repository } = reference;
  const session = createRegistrySession({ registry, repository, name: image, actions: "pull" }, options);
  const found = await findManifest(session, { reference, image, platform: options.platform });
  const manifest = parseJson(ImageManifest, found.bytes);
  if (!manifest) throw unreadable(session, image);
  const config = await readConfig(session, manifest.config, image);
  requirePlatform(config, { image, wanted: options.platform });
  return {
    pinned: formatImageReference({ registry, repository, tag: undefined, digest: found.digest }),
    digest: found.digest,
    platform: options.platform,
    labels: config.config?.Labels ?? {},
    config,
    compressedBytes: manifest.layers.reduce((total, { size }) => total + size, manifest.config.size),
  };
}

interface FoundManifest {
  digest: Digest;
  bytes: Buffer;
}

async function findManifest(
  session: RegistrySession,
  { reference, image, platform }: { reference: ImageReference; image: string; platform: Platform },
): Promise<FoundManifest> {
  const top = await readManifest(session, { version: reference.digest ?? reference.tag ?? "latest", image });
  if (!INDEXES.includes(top.mediaType)) return top;
  const index = parseJson(ImageIndex, top.bytes);
  if (!index) throw unreadable(session, image);
  const known = index.manifests.filter(({ mediaType }) => MANIFESTS.includes(mediaType));
  const fitting = known.find(
    (entry) => entry.platform?.os === platform.os && entry.platform.architecture === platform.architecture,
  );
  if (!fitting) throw wrongPlatform({ image, wanted: platform, has: platformsOf(known) });
  return readManifest(session, { version: fitting.digest, image });
}

async function readManifest(
  session: RegistrySession,
  { version, image }: { version: string; image: string },
): Promise<FoundManifest & { mediaType: string }> {
  const accept = [...INDEXES, ...MANIFESTS].join(", ");
  const response = await session.send({ method: "GET", path: `/manifests/${version}`, headers: { accept } });
  const bytes = await session.read(response, MANIFEST_MAX_BYTES);
  if (response.status === 404)
    throw new ImageError("IMAGE_NOT_FOUND", `There is no image ${image} in the registry ${session.registry}`);
  if (!response.ok) throw failed(session, image, response.status);
  const digest = digestOf(bytes);
  if (version.startsWith("sha256:") && digest !== version)
    throw new ImageError(
      "REGISTRY_FAILED",
      `The registry ${session.registry} gave another manifest than ${version}`,
    );
  const [mediaType = ""] = (response.headers.get("content-type") ?? "").split(";");
  return { digest, bytes, mediaType: mediaType.trim() };
}

async function readConfig(
  session: RegistrySession,
  { digest }: Descriptor,
  image: string,
): Promise<ImageConfig> {
  const response = await session.send({ method: "GET", path: `/blobs/${digest}` });
  const bytes = await session.read(response, CONFIG_MAX_BYTES);
  if (!response.ok) throw failed(session, image, response.status);
  if (digestOf(bytes) !== digest)
    throw new ImageError(
      "REGISTRY_FAILED",
      `The registry ${session.registry} gave another configuration than ${digest}`,
    );
  const config = parseJson(ImageConfig, bytes);
  if (!config) throw unreadable(session, image);
  return config;
}

function requirePlatform(config: ImageConfig, { image, wanted }: { image: string; wanted: Platform }): void {
  if (config.os === wanted.os && config.architecture === wanted.architecture) return;
  throw wrongPlatform({ image, wanted, has: [describePlatform(config)] });
}

function platformsOf(entries: Descriptor[]): string[] {
  return entries.flatMap(({ platform }) =>
    platform && platform.os !== "unknown" ? [describePlatform(platform)] : [],
  );
}

function wrongPlatform({
  image,
  wanted,
  has,
}: {
  image: string;
  wanted: Platform;
  has: string[];
}): ImageError {
  const made = has.length > 0 ? `is made for ${has.join(", ")}` : "names no platform";
  return new ImageError(
    "IMAGE_WRONG_PLATFORM",
    `The image ${image} ${made}, not for ${describePlatform(wanted)}`,
  );
}

function unreadable({ registry }: RegistrySession, image: string): ImageError {
  return new ImageError(
    "REGISTRY_FAILED",
    `What the registry ${registry} has as ${image} is not a container image`,
  );
}

function failed({ registry }: RegistrySession, image: string, status: number): ImageError {
  return new ImageError(
    "REGISTRY_FAILED",
    `The registry ${registry} answered ${status} when asked for ${image}`,
  );
}
