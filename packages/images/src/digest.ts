import { createHash } from "node:crypto";

/** `sha256:` and 64 digits. */
export type Digest = `sha256:${string}`;

export function digestOf(bytes: Uint8Array | string): Digest {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

export function isDigest(text: string): text is Digest {
  return /^sha256:[0-9a-f]{64}$/.test(text);
}

/** The digits alone, as archives name their files. */
export function hexOf(digest: Digest): string {
  return digest.slice("sha256:".length);
}
