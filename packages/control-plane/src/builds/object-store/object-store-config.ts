import { readFileSync } from "node:fs";

/** A bucket for uploads and builds. */
export interface ObjectStoreConfig {
  bucket: string;
  /** Before every key; empty, or with a slash at the end. */
  prefix: string;
  /** @default Amazon's own */
  endpoint: string | undefined;
  region: string;
  /** @default what the environment gives, as with Amazon's own tools */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
}

/** Undefined: the data folder is all there is. Throws an error whose message names the setting that is wrong. */
export function readObjectStore(text: (name: string) => string | undefined): ObjectStoreConfig | undefined {
  const bucket = text("S3_BUCKET");
  if (bucket === undefined) return undefined;
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new Error(
      `VOCALHOST_S3_BUCKET must be the name of a bucket such as vocalhost-builds, got "${bucket}"`,
    );
  const endpoint = text("S3_ENDPOINT");
  if (endpoint !== undefined && !/^https?:\/\/[^/]+\/?$/.test(endpoint))
    throw new Error(
      `VOCALHOST_S3_ENDPOINT must be an address such as https://s3.example.com, got "${endpoint}"`,
    );
  const prefix = (text("S3_PREFIX") ?? "").replace(/^\/+|\/+$/g, "");
  return {
    bucket,
    prefix: prefix === "" ? "" : `${prefix}/`,
    endpoint,
    region: text("S3_REGION") ?? "us-east-1",
    credentials: readCredentials(text),
  };
}

function readCredentials(text: (name: string) => string | undefined): ObjectStoreConfig["credentials"] {
  const accessKeyId = text("S3_ACCESS_KEY_ID");
  const file = text("S3_SECRET_ACCESS_KEY_FILE");
  const secretAccessKey =
    file === undefined ? text("S3_SECRET_ACCESS_KEY") : readFileSync(file, "utf8").trim();
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey };
  throw new Error(
    "VOCALHOST_S3_ACCESS_KEY_ID and VOCALHOST_S3_SECRET_ACCESS_KEY (or …_SECRET_ACCESS_KEY_FILE) belong together",
  );
}
