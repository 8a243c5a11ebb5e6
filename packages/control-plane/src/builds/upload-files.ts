import { AppError } from "@vocalhost/protocol";
import { createHash, randomUUID } from "node:crypto";
import { createWriteStream, existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, PassThrough, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { z } from "zod";
import type { ObjectStore } from "./object-store/object-store.ts";

/**
 * Uploaded archives, each with the facts found during its upload; on the disk, and in the object store if there is
 * one.
 */
export interface UploadFiles {
  /**
   * Receives a body, perhaps beside others of the same upload. `hold` resolves when this many more bytes may be
   * written.
   */
  take(uploadId: string, file: Readable, hold: (bytes: number) => Promise<void>): Promise<TakenUpload>;
  /** Returns its file, fetching it first if another controller received it. */
  bring(uploadId: string): Promise<string>;
  info(uploadId: string): Promise<UploadInfo | undefined>;
  remove(uploadId: string): Promise<void>;
  /** Removes partial files left by controllers that exited during an upload. */
  sweepPartial(nowMs: number): Promise<void>;
}

/** A complete body, under a name of its own. */
export interface TakenUpload extends AsyncDisposable {
  info: UploadInfo;
  /** Makes it the upload's file, which every controller finds. */
  keep(): Promise<void>;
}

export const UploadInfo = z
  .object({
    /** Hash of the uploaded bytes. */
    contextHash: z.string(),
    /** Hash of the unpacked files; older uploads have only the other one. */
    contentHash: z.string().optional(),
    sizeBytes: z.number(),
  })
  .transform((info) => ({ ...info, contentHash: info.contentHash ?? info.contextHash }));
export type UploadInfo = z.infer<typeof UploadInfo>;

export interface UploadLimits {
  compressedBytes: number;
  unpackedBytes: number;
}

const LIMITS: UploadLimits = { compressedBytes: 500 * 1024 ** 2, unpackedBytes: 2 * 1024 ** 3 };
const HASH_DIGITS = 16;
const PARTIAL = ".part";
const PARTIAL_DEAD_MS = 3_600_000; // the gateway gives a body a quarter of that

export function createUploadFiles(
  dataFolder: string,
  { limits = LIMITS, objectStore }: { limits?: UploadLimits; objectStore?: ObjectStore | undefined } = {},
): UploadFiles {
  const folder = join(dataFolder, "uploads");
  const path = (uploadId: string): string => join(folder, `${uploadId}.tgz`);
  const infoPath = (uploadId: string): string => join(folder, `${uploadId}.json`);
  const keysOf = (uploadId: string): { archive: string; info: string } => ({
    archive: `uploads/${uploadId}.tgz`,
    info: `uploads/${uploadId}.json`,
  });

  async function keep(uploadId: string, { archive, info }: { archive: string; info: string }): Promise<void> {
    const keys = keysOf(uploadId);
    await rename(archive, path(uploadId));
    await objectStore?.put(keys.archive, path(uploadId));
    await objectStore?.put(keys.info, info);
    await rename(info, infoPath(uploadId)); // last: it marks the upload as complete
  }

  async function sweepPartial(nowMs: number): Promise<void> {
    if (!existsSync(folder)) return;
    for (const name of await readdir(folder)) {
      if (!name.endsWith(PARTIAL)) continue;
      const partial = join(folder, name);
      const about = await stat(partial).catch(() => undefined); // the upload may have finished meanwhile
      if (about && about.mtimeMs < nowMs - PARTIAL_DEAD_MS) await rm(partial, { force: true });
    }
  }

  return {
    sweepPartial,
    async bring(uploadId) {
      const file = path(uploadId);
      if (!objectStore || existsSync(file)) return file;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      if (await objectStore.fetch(keysOf(uploadId).archive, file)) return file;
      throw new Error(`The upload ${uploadId} is gone`);
    },
    async take(uploadId, file, hold) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await sweepPartial(Date.now()).catch(() => undefined); // a standby has no other sweep
      const attempt = join(folder, `${uploadId}.${randomUUID()}`);
      const [archive, info] = [`${attempt}.tgz${PARTIAL}`, `${attempt}.json${PARTIAL}`];
      const clear = async (): Promise<void> => {
        for (const partial of [archive, info]) await rm(partial, { force: true });
      };
      try {
        const found = await store(file, { path: archive, limits, hold });
        await writeFile(info, JSON.stringify(found), { mode: 0o600, flush: true });
        return { info: found, keep: () => keep(uploadId, { archive, info }), [Symbol.asyncDispose]: clear };
      } catch (error) {
        await clear();
        throw error;
      }
    },
    async info(uploadId) {
      if (objectStore && !existsSync(infoPath(uploadId))) {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await objectStore.fetch(keysOf(uploadId).info, infoPath(uploadId));
      }
      const text = await readFile(infoPath(uploadId), "utf8").catch(() => undefined);
      return text === undefined ? undefined : UploadInfo.parse(JSON.parse(text));
    },
    async remove(uploadId) {
      await Promise.all([path(uploadId), infoPath(uploadId)].map((name) => rm(name, { force: true })));
      for (const key of Object.values(keysOf(uploadId))) await objectStore?.remove(key);
    },
  };
}

// Also unpacks the body to hash its contents, so that the same files match however they were compressed.
async function store(
  file: Readable,
  { path, limits, hold }: { path: string; limits: UploadLimits; hold: (bytes: number) => Promise<void> },
): Promise<UploadInfo> {
  const contextHash = createHash("md5");
  const contentHash = createHash("md5");
  const compressed = counting(limits.compressedBytes);
  const unpacked = counting(limits.unpackedBytes);
  const copy = new PassThrough();
  const whole = new AbortController(); // the first failure ends the other
  const { signal } = whole;
  const hashed = pipeline(copy, createGunzip(), unpacked.stream, contentHash, { signal }).catch(
    (error: unknown) => {
      whole.abort(error);
      throw error;
    },
  );
  const written = pipeline(
    file,
    compressed.stream,
    async function* (source: AsyncIterable<Buffer>) {
      for await (const bytes of source) {
        await hold(bytes.length);
        contextHash.update(bytes);
        if (!copy.write(bytes)) await drained(copy, signal);
        yield bytes;
      }
      copy.end();
    },
    createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }),
    { signal },
  ).catch((error: unknown) => {
    whole.abort(error);
    throw error;
  });
  const results = await Promise.allSettled([written, hashed]);
  if (results.some(({ status }) => status === "rejected")) throw explained(signal.reason);
  const [context, content] = [contextHash, contentHash].map((hash) =>
    hash.digest("hex").slice(0, HASH_DIGITS),
  );
  return { contextHash: context ?? "", contentHash: content ?? "", sizeBytes: compressed.count() };
}

async function drained(stream: PassThrough, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => reject(signal.reason as Error);
  stream.once("drain", resolve);
  signal.addEventListener("abort", onAbort, { once: true });
  await promise.finally(() => {
    stream.off("drain", resolve);
    signal.removeEventListener("abort", onAbort);
  });
}

function counting(maxBytes: number): { stream: Transform; count(): number } {
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        done(new AppError("PAYLOAD_TOO_LARGE", { message: "The bot's folder is too large" }));
      else done(null, chunk);
    },
  });
  return { stream, count: () => bytes };
}

function explained(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!code.startsWith("Z_") && code !== "ERR_STREAM_PREMATURE_CLOSE") return error;
  return new AppError("GENERIC_BAD_REQUEST", {
    message: "The file is not a complete gzip archive",
    cause: error,
  });
}
