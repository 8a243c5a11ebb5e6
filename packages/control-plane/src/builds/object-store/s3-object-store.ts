import { AppError } from "@vocalhost/protocol";
import { loadLibrary } from "@vocalhost/base/load-library";
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { ObjectStoreConfig } from "./object-store-config.ts";
import type { ObjectStore } from "./object-store.ts";

const CONNECT_MS = 5_000;
const SILENT_MS = 60_000;
const WHOLE_MS = 600_000; // 500 MiB over a slow line
const ATTEMPTS = 3;
const AGAIN_MS = 200;
const silent = (): void => undefined;
const SILENT = { debug: silent, info: silent, warn: silent, error: silent };
const SHA256 = "sha256"; // our own metadata, because some servers do not store the interface's checksums

/** Opens a bucket of any server with the S3 interface. */
export async function openS3ObjectStore(config: ObjectStoreConfig): Promise<ObjectStore> {
  const { S3Client, ...commands } = await loadLibrary("@aws-sdk/client-s3", {
    needs: "Builds in a bucket need",
    load: () => import("@aws-sdk/client-s3"),
  });
  const { GetObjectCommand, HeadObjectCommand, PutObjectCommand } = commands;
  const { CopyObjectCommand, DeleteObjectCommand, ListObjectsV2Command } = commands;
  const { bucket: Bucket, prefix, endpoint, region, credentials } = config;
  const client = new S3Client({
    region,
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    ...(credentials ? { credentials } : {}),
    maxAttempts: 1, // it does not resend streams, so we retry every request ourselves
    logger: SILENT, // errors are thrown
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: SILENT_MS, requestTimeout: WHOLE_MS },
    requestChecksumCalculation: "WHEN_REQUIRED", // many servers do not know its trailers
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const at = (key: string): { Bucket: string; Key: string } => ({ Bucket, Key: `${prefix}${key}` });

  async function putOnce(key: string, file: string): Promise<void> {
    const sha256 = await sha256Of(file);
    const { size } = await stat(file);
    await client.send(
      new PutObjectCommand({
        ...at(key),
        Body: createReadStream(file),
        ContentLength: size,
        ChecksumSHA256: sha256.toString("base64"),
        Metadata: { [SHA256]: sha256.toString("hex") },
      }),
    );
  }

  async function fetchOnce(key: string, file: string): Promise<void> {
    const { Body, Metadata } = await client.send(new GetObjectCommand(at(key)));
    const partial = `${file}.${process.pid}.part`;
    try {
      await pipeline(Body as Readable, createWriteStream(partial, { mode: 0o600, flush: true }));
      const expected = Metadata?.[SHA256];
      const found = (await sha256Of(partial)).toString("hex");
      if (expected !== undefined && expected !== found) throw new Error(`${key} came damaged`);
      await rename(partial, file);
    } finally {
      await rm(partial, { force: true });
    }
  }

  async function remove(key: string): Promise<void> {
    await persist(() => client.send(new DeleteObjectCommand(at(key))));
  }

  return {
    put: (key, file) => persist(() => putOnce(key, file)),
    fetch: (key, file) => orFalse(persist(() => fetchOnce(key, file))),
    has: (key) => orFalse(persist(() => client.send(new HeadObjectCommand(at(key))))),
    async move(key, to) {
      const CopySource = encodeURI(`${Bucket}/${prefix}${key}`);
      await persist(() => client.send(new CopyObjectCommand({ ...at(to), CopySource })));
      await remove(key);
    },
    remove,
    async *list(under) {
      let token: string | undefined;
      do {
        const page = await persist(() =>
          client.send(
            new ListObjectsV2Command({ Bucket, Prefix: `${prefix}${under}`, ContinuationToken: token }),
          ),
        );
        for (const { Key = "", LastModified } of page.Contents ?? [])
          yield { key: Key.slice(prefix.length), putAtMs: LastModified?.getTime() ?? Date.now() };
        token = page.NextContinuationToken;
      } while (token !== undefined);
    },
    [Symbol.dispose]: () => client.destroy(),
  };
}

async function persist<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (isMissing(error)) throw error;
      const status = statusOf(error);
      const isRefused = status !== undefined && status >= 400 && status < 500 && status !== 429;
      if (isRefused || attempt >= ATTEMPTS)
        throw new AppError("SERVICE_UNAVAILABLE", {
          message: "Uploads and builds cannot be reached just now",
          cause: error,
        });
      await wait(AGAIN_MS * attempt);
    }
  }
}

async function orFalse(done: Promise<unknown>): Promise<boolean> {
  return done.then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && (error.name === "NoSuchKey" || error.name === "NotFound");
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

async function sha256Of(file: string): Promise<Buffer> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest();
}
