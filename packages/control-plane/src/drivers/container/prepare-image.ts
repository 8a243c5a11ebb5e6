import {
  formatImageReference,
  ImageError,
  parseImageReference,
  resolveImage,
  type ImageReference,
  type Platform,
  type ResolvedImage,
} from "@vocalhost/images";
import type { InstanceSource, PreparedSource, PrepareOptions, PullSecret } from "../driver.ts";
import { SourceError } from "../driver.ts";
import type { Engine } from "./engine.ts";
import { asDriverError, EngineError } from "./engine-error.ts";
import { pullImage } from "./pull-image.ts";

export interface PrepareImageContext {
  engine: Engine;
  platform: Platform;
  /** Whether a registry, or what it sends us to, may be asked at all. */
  mayReach(url: URL): boolean;
  /** Told before an image is pulled. */
  pulled(reference: string): Promise<void>;
}

type ImageSource = InstanceSource & { kind: "image" };

/** Images that were loaded into the engine and are in no registry, as engines call them. */
const LOADED = "localhost";
const COMPRESSED_MAX_BYTES = 10 * 1024 ** 3; // unpacked it is two to three times that, on the disk of all agents

/** Finds out what a reference means now, and has the engine pull that. */
export async function prepareImage(
  source: ImageSource,
  context: PrepareImageContext,
  options: PrepareOptions,
): Promise<PreparedSource> {
  try {
    const reference = parseImageReference(source.reference);
    if (reference.registry === LOADED) return await findLoaded(reference, context);
    const known = reference.digest && (await findPulled(source.reference, context));
    if (known) return known;
    options.progressed("Asking the registry for the image");
    const resolved = await resolve(source, reference, { ...context, ...options });
    if (!(await findPulled(resolved.pinned, context))) {
      await context.pulled(resolved.pinned);
      await pullImage(context.engine, {
        reference: resolved.pinned,
        totalBytes: resolved.compressedBytes,
        credentials: secretFor(source.pullSecret, reference),
        ...options,
      });
    }
    return { reference: resolved.pinned, labels: resolved.labels };
  } catch (error) {
    throw toSourceError(error, source.reference);
  }
}

async function resolve(
  { reference: image, pullSecret }: ImageSource,
  reference: ImageReference,
  { platform, mayReach, signal }: PrepareImageContext & PrepareOptions,
): Promise<ResolvedImage> {
  const secret = secretFor(pullSecret, reference);
  const credentials = secret && { username: secret.username, password: secret.token };
  const resolved = await resolveImage(image, { platform, credentials, mayReach, signal });
  if (resolved.compressedBytes > COMPRESSED_MAX_BYTES)
    throw new SourceError(
      "IMAGE_TOO_LARGE",
      `The image ${image} has ${inGib(resolved.compressedBytes)} GiB; at most ${inGib(COMPRESSED_MAX_BYTES)} GiB are run here`,
    );
  refuseVolumes(image, Object.keys(resolved.config.config?.Volumes ?? {}));
  return resolved;
}

/** One registry's credentials are no other's business. */
function secretFor(secret: PullSecret | undefined, { registry }: ImageReference): PullSecret | undefined {
  if (!secret) return undefined;
  const host = secret.host.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
  const isDocker = /^(?:index\.|registry-1\.)?docker\.io$/.test(host) && registry === "docker.io";
  if (host === registry || isDocker) return secret;
  throw new SourceError(
    "IMAGE_PULL_UNAUTHORIZED",
    `The image pull secret is for the registry ${host}, the image is in ${registry}`,
  );
}

async function findPulled(
  pinned: string,
  { engine }: PrepareImageContext,
): Promise<PreparedSource | undefined> {
  const found = await engine.inspectImage(pinned);
  if (!found) return undefined;
  refuseVolumes(pinned, found.volumes);
  return { reference: pinned, labels: found.labels };
}

/** They would lie on the disk of all agents, without a limit. */
function refuseVolumes(image: string, volumes: readonly string[]): void {
  const [first] = volumes;
  if (first === undefined) return;
  throw new SourceError(
    "UNKNOWN_ERROR",
    `The image ${image} declares a volume (VOLUME ${first}), which is not run here: a bot's files are read-only, and it has /tmp`,
  );
}

/** What the engine knows an image by: those that were loaded into it are pinned to their id there. */
export function engineName(reference: string): string {
  return /^localhost\/.*@(sha256:[0-9a-f]{64})$/.exec(reference)?.[1] ?? reference;
}

async function findLoaded(
  reference: ImageReference,
  { engine, platform }: PrepareImageContext,
): Promise<PreparedSource> {
  const name = formatImageReference(reference);
  const found = await engine.inspectImage(engineName(name));
  if (!found)
    throw new SourceError("IMAGE_NOT_FOUND", `No image ${name} was loaded into the container engine`);
  if (found.architecture !== platform.architecture)
    throw new SourceError(
      "INVALID_IMAGE_PLATFORM",
      `The image ${name} is made for ${found.architecture}, not for ${platform.architecture}`,
    );
  refuseVolumes(name, found.volumes);
  const pinned = formatImageReference({ ...reference, tag: undefined, digest: found.id });
  return { reference: pinned, labels: found.labels };
}

const CODES: Record<ImageError["code"], SourceError["code"]> = {
  REFERENCE_INVALID: "IMAGE_NOT_FOUND",
  IMAGE_NOT_FOUND: "IMAGE_NOT_FOUND",
  IMAGE_UNAUTHORIZED: "IMAGE_PULL_UNAUTHORIZED",
  IMAGE_WRONG_PLATFORM: "INVALID_IMAGE_PLATFORM",
  REGISTRY_UNREACHABLE: "IMAGE_PULL_UNKNOWN_ERROR",
  REGISTRY_FAILED: "IMAGE_PULL_UNKNOWN_ERROR",
};

function toSourceError(error: unknown, image: string): unknown {
  if (error instanceof ImageError) return new SourceError(CODES[error.code], error.message, { cause: error });
  if (error instanceof EngineError && error.kind === "full")
    return new SourceError(
      "IMAGE_PULL_UNKNOWN_ERROR",
      `There is no space for the image ${image} on the disk of the container engine`,
      { cause: error },
    );
  return asDriverError(error);
}

function inGib(bytes: number): string {
  return (bytes / 1024 ** 3).toFixed(1);
}
