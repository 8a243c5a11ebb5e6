import { readSettings, type Settings, type ValuesOf } from "@vocalhost/protocol";
import { readFileSync } from "node:fs";
import { z } from "zod";

export const objectStoreSettings = {
  bucket: {
    name: "VOCALHOST_S3_BUCKET",
    schema: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket such as vocalhost-builds")
      .optional(),
    help: "bucket for uploads and builds, which other controllers then find; without one they are only in the data folder",
  },
  endpoint: {
    name: "VOCALHOST_S3_ENDPOINT",
    schema: z
      .string()
      .regex(/^https?:\/\/[^/]+\/?$/, "must be an address such as https://s3.example.com")
      .optional(),
    preset: "Amazon's",
    help: "address of the storage, such as `https://s3.example.com`",
  },
  region: {
    name: "VOCALHOST_S3_REGION",
    schema: z.string().default("us-east-1"),
    help: "region of the storage",
  },
  prefix: {
    name: "VOCALHOST_S3_PREFIX",
    schema: z
      .string()
      .transform((text) => text.replace(/^\/+|\/+$/g, "").replace(/.$/, "$&/"))
      .default(""),
    help: "put before every name in the bucket",
  },
  accessKeyId: {
    name: "VOCALHOST_S3_ACCESS_KEY_ID",
    preset: "as Amazon's tools find it",
    help: "access key of the bucket",
  },
  secretAccessKey: {
    name: "VOCALHOST_S3_SECRET_ACCESS_KEY",
    isSecret: true,
    help: "secret of that key",
  },
  secretAccessKeyFile: {
    name: "VOCALHOST_S3_SECRET_ACCESS_KEY_FILE",
    help: "file with that secret, instead of the secret",
  },
} as const satisfies Settings;

/** Settings of a bucket for uploads and builds. */
export type ObjectStoreConfig = NonNullable<ReturnType<typeof readObjectStore>>;

/**
 * Returns undefined if uploads and builds are only in the data folder. Throws an error that names the invalid
 * setting.
 */
export function readObjectStore(environment: Record<string, string | undefined>) {
  const settings = readSettings(objectStoreSettings, environment);
  const { bucket, prefix, endpoint, region } = settings;
  return bucket === undefined
    ? undefined
    : { bucket, prefix, endpoint, region, credentials: toCredentials(settings) };
}

function toCredentials(
  settings: ValuesOf<typeof objectStoreSettings>,
): { accessKeyId: string; secretAccessKey: string } | undefined {
  const { accessKeyId, secretAccessKeyFile: file } = settings;
  const secretAccessKey = file === undefined ? settings.secretAccessKey : readFileSync(file, "utf8").trim();
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey };
  throw new Error(
    "VOCALHOST_S3_ACCESS_KEY_ID and VOCALHOST_S3_SECRET_ACCESS_KEY (or …_SECRET_ACCESS_KEY_FILE) belong together",
  );
}
