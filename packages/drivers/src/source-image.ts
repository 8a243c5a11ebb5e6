import {
  type ImageError,
  resolveImage,
  type ImageReference,
  type Platform,
  type ResolvedImage,
} from "@vocalhost/images";
import { SourceError, type InstanceSource, type PullSecret } from "./driver.ts";

export type ImageSource = InstanceSource & { kind: "image" };

export interface RegistryContext {
  /** The platform of the machine that runs it. */
  platform: Platform;
  /** Tells whether a registry, or the address of a redirect, may be asked. */
  mayReach(url: URL, address?: string): boolean;
}

const COMPRESSED_MAX_BYTES = 10 * 1024 ** 3; // unpacked it is two to three times that, on the disk of all agents

const CODES: Record<ImageError["code"], SourceError["code"]> = {
  REFERENCE_INVALID: "IMAGE_NOT_FOUND",
  IMAGE_NOT_FOUND: "IMAGE_NOT_FOUND",
  IMAGE_UNAUTHORIZED: "IMAGE_PULL_UNAUTHORIZED",
  IMAGE_WRONG_PLATFORM: "INVALID_IMAGE_PLATFORM",
  REGISTRY_UNREACHABLE: "IMAGE_PULL_UNKNOWN_ERROR",
  REGISTRY_FAILED: "IMAGE_PULL_UNKNOWN_ERROR",
};

/** Asks the registry for the image of a reference. Rejects if it cannot run on this platform. */
export async function askRegistry(
  { reference: image, pullSecret }: ImageSource,
  reference: ImageReference,
  { platform, mayReach, signal }: RegistryContext & { signal: AbortSignal },
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

/** Returns the credentials only if they belong to this registry. */
export function secretFor(
  secret: PullSecret | undefined,
  { registry }: ImageReference,
): PullSecret | undefined {
  if (!secret) return undefined;
  const host = secret.host.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
  const isDocker = /^(?:index\.|registry-1\.)?docker\.io$/.test(host) && registry === "docker.io";
  if (host === registry || isDocker) return secret;
  throw new SourceError(
    "IMAGE_PULL_UNAUTHORIZED",
    `The image pull secret is for the registry ${host}, the image is in ${registry}`,
  );
}

/** They would lie on the disk of all agents, without a limit. */
export function refuseVolumes(image: string, volumes: readonly string[]): void {
  const [first] = volumes;
  if (first === undefined) return;
  throw new SourceError(
    "UNKNOWN_ERROR",
    `The image ${image} declares a volume (VOLUME ${first}), which is not run here: a bot's files are read-only, and it has /tmp`,
  );
}

/** Turns an image error into the sentence of the agent's record. */
export function asSourceError(error: ImageError): SourceError {
  return new SourceError(CODES[error.code], error.message, { cause: error });
}

function inGib(bytes: number): string {
  return (bytes / 1024 ** 3).toFixed(1);
}
