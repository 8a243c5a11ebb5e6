import { z } from "zod";

export const SecretSetName = z
  .string()
  .min(3)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);

export const SecretKey = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9_-]+$/);

const SetStatus = z.enum(["pending", "ready", "failed"]);

export const SecretSetSummary = z.object({
  name: z.string(),
  type: z.enum(["secret", "imagePullSecret"]),
  region: z.string(),
  status: SetStatus,
  errorMessage: z.string().optional(),
});
export type SecretSetSummary = z.infer<typeof SecretSetSummary>;

export const SecretSetList = z.object({ sets: z.array(SecretSetSummary) });
export type SecretSetList = z.infer<typeof SecretSetList>;

export const SecretSet = z.object({
  region: z.string(),
  status: SetStatus,
  errorMessage: z.string().optional(),
  secrets: z.array(z.object({ fieldName: z.string() })),
});
export type SecretSet = z.infer<typeof SecretSet>;

const VALUE_MAX_CHARACTERS = 64 * 1024;
const SecretValue = z.string().max(VALUE_MAX_CHARACTERS);

/** Several keys, one key, or an image-pull secret; which of them is decided by what is there. */
export const PutSecrets = z.object({
  name: z.string().nullish(),
  region: z.string().max(63).nullish(),
  secrets: z.array(z.object({ secretKey: SecretKey, secretValue: SecretValue })).nullish(),
  isImagePullSecret: z.boolean().nullish(),
  host: z.string().max(512).nullish(),
  secretKey: SecretKey.nullish(),
  secretValue: SecretValue.nullish(),
});
export type PutSecrets = z.infer<typeof PutSecrets>;

export const SecretsStored = z.object({ status: z.literal("OK"), region: z.string() });
export type SecretsStored = z.infer<typeof SecretsStored>;
