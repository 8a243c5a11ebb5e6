import { createReadStream } from "node:fs";
import type { Digest } from "../digest.ts";
import { mediaTypes } from "../image-documents.ts";
import { ImageError } from "../image-error.ts";
import { formatImageReference, parseImageReference } from "../image-reference.ts";
import { compressedBytes, type Image } from "../image.ts";
import { createRegistrySession, type RegistryOptions, type RegistrySession } from "./registry-session.ts";

export interface PushOptions extends RegistryOptions {
  /** Repository of the same registry that may have layers already, as that of the base. */
  mountFrom?: string;
  onProgress?: (progress: PushProgress) => void;
}

export interface PushProgress {
  /** Bytes of all layers; those that the registry has count as sent. */
  sentBytes: number;
  totalBytes: number;
}

export interface PushedImage {
  pinned: string;
  digest: Digest;
  /** Bytes that were really sent. */
  uploadedBytes: number;
}

interface Blob {
  digest: Digest;
  bytes: number;
  open: () => AsyncIterable<Uint8Array>;
}

/** Sends an image to a registry under a tag; what is there already is not sent again. */
export async function pushImage(image: Image, name: string, options: PushOptions = {}): Promise<PushedImage> {
  const reference = parseImageReference(name);
  const { registry, repository, tag } = reference;
  if (reference.digest !== undefined || tag === undefined)
    throw new ImageError("REFERENCE_INVALID", `'${name}' has a digest; an image is pushed under a tag`);
  const session = createRegistrySession({ registry, repository, name, actions: "pull,push" }, options);
  const totalBytes = compressedBytes(image);
  let sentBytes = 0;
  let uploadedBytes = 0;
  const moved = (bytes: number): void => {
    sentBytes += bytes;
    options.onProgress?.({ sentBytes, totalBytes });
  };
  for (const blob of blobsOf(image)) {
    const uploaded = await sendBlob(session, blob, { mountFrom: options.mountFrom, moved });
    if (uploaded) uploadedBytes += blob.bytes;
    else moved(blob.bytes);
  }
  const response = await session.send({
    method: "PUT",
    path: `/manifests/${tag}`,
    headers: { "content-type": mediaTypes.manifest },
    body: image.manifest.bytes,
  });
  await expectStatus(session, response, { status: [201], doing: `keep the manifest of ${name}` });
  return {
    pinned: formatImageReference({ registry, repository, tag: undefined, digest: image.digest }),
    digest: image.digest,
    uploadedBytes,
  };
}

function blobsOf(image: Image): Blob[] {
  const { config } = image;
  const layers = new Map(image.layers.map((layer) => [layer.digest, layer]));
  return [
    ...[...layers.values()].map(({ digest, bytes, file }) => ({
      digest,
      bytes,
      open: () => createReadStream(file),
    })),
    {
      digest: config.digest,
      bytes: config.bytes.length,
      open: async function* () {
        yield config.bytes;
      },
    },
  ];
}

/** True if it had to be sent. */
async function sendBlob(
  session: RegistrySession,
  blob: Blob,
  { mountFrom, moved }: { mountFrom: string | undefined; moved: (bytes: number) => void },
): Promise<boolean> {
  const known = await session.send({ method: "HEAD", path: `/blobs/${blob.digest}` });
  if (known.status === 200) return false;
  const mount = mountFrom === undefined ? "" : `?mount=${blob.digest}&from=${encodeURIComponent(mountFrom)}`;
  const begun = await session.send({ method: "POST", path: `/blobs/uploads/${mount}` });
  await expectStatus(session, begun, { status: [201, 202], doing: "take a layer" });
  if (begun.status === 201) return false; // mounted
  const sent = await upload(session, { blob, location: locationOf(session, begun), moved });
  const whole = new URL(sent);
  whole.searchParams.set("digest", blob.digest);
  const ended = await session.send({ method: "PUT", path: whole.href });
  await expectStatus(session, ended, { status: [201], doing: "keep a layer" });
  return true;
}

async function upload(
  session: RegistrySession,
  { blob, location, moved }: { blob: Blob; location: string; moved: (bytes: number) => void },
): Promise<string> {
  const stall = new AbortController();
  const stalled = (): void => stall.abort(new DOMException("Nothing moved", "TimeoutError"));
  let timer = setTimeout(stalled, session.limits.stallMs);
  const body = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of blob.open()) {
      clearTimeout(timer);
      timer = setTimeout(stalled, session.limits.stallMs);
      yield chunk;
      moved(chunk.length);
    }
  };
  try {
    const response = await session.send({
      method: "PATCH",
      path: location,
      headers: { "content-type": "application/octet-stream", "content-length": String(blob.bytes) },
      body: body(),
      signal: stall.signal,
    });
    await expectStatus(session, response, { status: [202], doing: "take a layer" });
    return locationOf(session, response);
  } finally {
    clearTimeout(timer);
  }
}

function locationOf({ registry }: RegistrySession, response: Response): string {
  const location = response.headers.get("location");
  const url = location === null ? null : URL.parse(location, response.url);
  if (!url)
    throw new ImageError("REGISTRY_FAILED", `The registry ${registry} did not say where to send a layer to`);
  return url.href;
}

async function expectStatus(
  session: RegistrySession,
  response: Response,
  { status, doing }: { status: number[]; doing: string },
): Promise<void> {
  if (status.includes(response.status)) return response.body?.cancel();
  const text = (await session.read(response, 64 * 1024)).toString().slice(0, 200);
  throw new ImageError(
    "REGISTRY_FAILED",
    `The registry ${session.registry} did not ${doing}: it answered ${response.status}${text && ` ${text}`}`,
  );
}
