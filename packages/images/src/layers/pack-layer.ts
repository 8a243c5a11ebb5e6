import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Digest } from "../digest.ts";
import type { LayerEntry } from "./layer-entry.ts";
import { writeTar } from "./write-tar.ts";

/** A packed layer in a file. */
export interface Layer {
  /** Digest of the compressed bytes. */
  digest: Digest;
  /** Digest of the archive inside. */
  diffId: Digest;
  bytes: number;
  unpackedBytes: number;
  file: string;
  /** The text that `history` shows for it. */
  createdBy: string;
}

export interface PackLayerOptions {
  entries: readonly LayerEntry[];
  /** Path of the new file. */
  file: string;
  createdBy: string;
  /** Level of gzip, from 0 to 9. Another level gives another digest. @default 6 */
  level?: number;
  signal?: AbortSignal | undefined;
}

/** Packs a layer. The same entries always give the same digest. */
export async function packLayer(options: PackLayerOptions): Promise<Layer> {
  const { entries, file, createdBy, signal } = options;
  const unpacked = createMeter();
  const packed = createMeter();
  try {
    await pipeline(
      writeTar(entries, signal),
      unpacked.stream,
      createGzip({ level: options.level ?? 6, memLevel: 8 }),
      packed.stream,
      createWriteStream(file),
      { signal },
    );
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
  return {
    digest: packed.digest(),
    diffId: unpacked.digest(),
    bytes: packed.bytes(),
    unpackedBytes: unpacked.bytes(),
    file,
    createdBy,
  };
}

/** Lets everything pass, and knows its digest and size afterwards. */
function createMeter(): { stream: Transform; digest: () => Digest; bytes: () => number } {
  const hash = createHash("sha256");
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, digest: () => `sha256:${hash.digest("hex")}`, bytes: () => bytes };
}
