import {
  ImageError,
  parseImageReference,
  resolveImage,
  type ImageErrorCode,
  type ImageReference,
  type Platform,
} from "@vocalhost/images";
import {
  SourceError,
  type InstanceSource,
  type PreparedSource,
  type PrepareOptions,
  type PullSecret,
  type SourceErrorCode,
} from "../driver.ts";

export interface ResolveContext {
  /** Of the nodes. */
  platform: Platform;
  /** Whether a registry, or what it sends us to, may be asked at all. */
  mayReach(url: URL): boolean;
}

const COMPRESSED_MAX_BYTES = 10 * 1024 ** 3;

/** Finds out what a reference means now. Nodes pull it when they first need it. */
export async function resolveSource(
  source: InstanceSource & { kind: "image" },
  { platform, mayReach }: ResolveContext,
  { progressed, signal }: PrepareOptions,
): Promise<PreparedSource> {
  try {
    const reference = parseImageReference(source.reference);
    const secret = secretFor(source.pullSecret, reference);
    const credentials = secret && { username: secret.username, password: secret.token };
    progressed("Asking the registry for the image");
    const resolved = await resolveImage(source.reference, { platform, credentials, mayReach, signal });
    if (resolved.compressedBytes > COMPRESSED_MAX_BYTES)
      throw new SourceError(
        "IMAGE_TOO_LARGE",
        `The image ${source.reference} has ${inGib(resolved.compressedBytes)} GiB; at most ${inGib(COMPRESSED_MAX_BYTES)} GiB are run here`,
      );
    return { reference: resolved.pinned, labels: resolved.labels };
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    throw new SourceError(CODES[error.code], error.message, { cause: error });
  }
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

const CODES: Record<ImageErrorCode, SourceErrorCode> = {
  REFERENCE_INVALID: "IMAGE_NOT_FOUND",
  IMAGE_NOT_FOUND: "IMAGE_NOT_FOUND",
  IMAGE_UNAUTHORIZED: "IMAGE_PULL_UNAUTHORIZED",
  IMAGE_WRONG_PLATFORM: "INVALID_IMAGE_PLATFORM",
  REGISTRY_UNREACHABLE: "IMAGE_PULL_UNKNOWN_ERROR",
  REGISTRY_FAILED: "IMAGE_PULL_UNKNOWN_ERROR",
};

function inGib(bytes: number): string {
  return (bytes / 1024 ** 3).toFixed(1);
}
