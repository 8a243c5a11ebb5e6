import type { AppError } from "@vocalhost/protocol";
import { z } from "zod";
import { badRequest } from "@vocalhost/base/refusals";

/** The change a PUT on a secret set requests. */
export type SecretPut =
  | { kind: "secret"; values: ReadonlyMap<string, string>; region: string | undefined }
  | { kind: "imagePullSecret"; host: string; value: string; region: string | undefined };

export const SECRET_SET_NAME =
  /^(?=.{3,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const FIELD_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** Linux limits a value of the environment to 128 KiB, and a null byte ends it. */
const VALUE_LENGTH_MAX = 32 * 1024;
const FIELDS_MAX = 256;

const SecretKey = z.string().regex(FIELD_NAME);
const SecretValue = z
  .string()
  .max(VALUE_LENGTH_MAX)
  .refine((value) => !value.includes("\0"));
const Field = z.object({ secretKey: SecretKey, secretValue: SecretValue });
const region = z.string().optional();

const ImagePull = z.object({
  isImagePullSecret: z.literal(true),
  host: z.string().optional(),
  secretValue: z.string().max(VALUE_LENGTH_MAX).optional(),
  region,
});
const Several = z.object({
  isImagePullSecret: z.literal(false).optional(),
  secrets: z.array(Field).min(1).max(FIELDS_MAX),
  region,
});
/** The command line's form of the body. */
const Single = Field.extend({
  name: z.string().optional(),
  isImagePullSecret: z.literal(false).optional(),
  region,
});
const Put = z.union([ImagePull, Several, Single]);

export function parseSecretPut(body: unknown): SecretPut {
  const parsed = Put.safeParse(body);
  if (!parsed.success) throw badRequest("Invalid request format");
  const put = parsed.data;
  if (put.isImagePullSecret === true) return toImagePull(put);
  const fields = "secrets" in put ? put.secrets : [put];
  const values = new Map(fields.map((field) => [field.secretKey, field.secretValue]));
  if (values.size < fields.length) throw badRequest("Invalid request format");
  return { kind: "secret", values, region: put.region };
}

export function imagePullIncomplete(): AppError {
  return badRequest("Must provide isImagePullSecret, host, and secretValue to update an image pull secret");
}

function toImagePull(put: z.infer<typeof ImagePull>): SecretPut {
  if (!put.host || !put.secretValue) throw imagePullIncomplete();
  if (!/^https?:$/.test(URL.parse(put.host)?.protocol ?? "")) {
    throw badRequest("host must be a URI such as https://index.docker.io/v1/");
  }
  if (!isCredential(put.secretValue)) throw badRequest("secretValue must be base64 of username:token");
  const host = put.host.endsWith("/") ? put.host : `${put.host}/`;
  return { kind: "imagePullSecret", host, value: put.secretValue, region: put.region };
}

function isCredential(value: string): boolean {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return false;
  return /^[^:]+:.+$/s.test(Buffer.from(value, "base64").toString());
}
