import {
  formatImageReference,
  ImageError,
  parseImageReference,
  type ImageReference,
} from "@vocalhost/images";
import { SourceError, type PreparedSource, type PrepareOptions } from "../driver.ts";
import {
  asSourceError,
  askRegistry,
  refuseVolumes,
  secretFor,
  type ImageSource,
  type RegistryContext,
} from "../source-image.ts";
import type { Engine } from "./engine.ts";
import { asDriverError, EngineError } from "./engine-error.ts";
import { pullImage } from "./pull-image.ts";

export interface PrepareImageContext extends RegistryContext {
  engine: Engine;
  /** Called before an image is pulled. */
  pulled(reference: string): Promise<void>;
}

/** Images that were loaded into the engine and are in no registry, as engines call them. */
const LOADED = "localhost";

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
    const resolved = await askRegistry(source, reference, { ...context, ...options });
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

async function findPulled(
  pinned: string,
  { engine }: PrepareImageContext,
): Promise<PreparedSource | undefined> {
  const found = await engine.inspectImage(pinned);
  if (!found) return undefined;
  refuseVolumes(pinned, found.volumes);
  return { reference: pinned, labels: found.labels };
}

/** Returns the name of an image in the engine. Images that were loaded into it are pinned to their id there. */
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

function toSourceError(error: unknown, image: string): unknown {
  if (error instanceof ImageError) return asSourceError(error);
  if (error instanceof EngineError && error.kind === "full")
    return new SourceError(
      "IMAGE_PULL_UNKNOWN_ERROR",
      `There is no space for the image ${image} on the disk of the container engine`,
      { cause: error },
    );
  return asDriverError(error);
}
