import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Digest } from "../digest.ts";
import type { LayerEntry } from "./layer-entry.ts";
import { writeTar } from "./write-tar.ts";

/** A packed layer in a file. */
export interface Layer {
  /** Of the compressed bytes. */
  digest: Digest;
  /** Of the archive inside. */
  diffId: Digest;
  bytes: number;
  unpackedBytes: number;
  file: string;
  /** What `history` shows for it. */
  createdBy: string;
}

export interface PackLayerOptions {
  entries: readonly LayerEntry[];
  /** Where to put it. */
  file: string;
  createdBy: string;
  /** Of gzip, from 1 to 9. Another level is another digest. @default 6 */
  level?: number;
  signal?: AbortSignal | undefined;
}

/** The same entries give the same digest, whoever packs them and whenever. */
export async function packLayer(options: PackLayerOptions): Promise<Layer> {
  const { entries, file, createdBy, signal } = options;
  const unpacked = createMeter();
  const packed = createMeter();
  try {
    await pipeline(
      Readable.from(writeTar(entries, signal)),
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
