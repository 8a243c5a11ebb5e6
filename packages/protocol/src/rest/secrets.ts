import { z } from "zod";
import { operations } from "./operation.ts";
import { Done } from "./values.ts";

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

export const secretOperations = operations("Secrets", {
  list: {
    id: "listSecretSets",
    summary: "Secret sets, without their values",
    method: "GET",
    path: "/secrets",
    right: "view",
    query: z.object({ region: z.string().max(63).optional() }),
    answer: SecretSetList,
  },
  get: {
    id: "getSecretSet",
    summary: "Names of a set's keys",
    method: "GET",
    path: "/secrets/:set",
    right: "view",
    answer: SecretSet,
  },
  put: {
    id: "putSecrets",
    summary: "Add or replace keys of a set, or set an image-pull secret",
    method: "PUT",
    path: "/secrets/:set",
    right: "manage",
    params: { set: SecretSetName },
    body: PutSecrets,
    answer: SecretsStored,
    statuses: [202],
    refusals: [409],
  },
  delete: {
    id: "deleteSecretSet",
    summary: "Delete a set",
    method: "DELETE",
    path: "/secrets/:set",
    right: "manage",
    answer: Done,
    refusals: [409],
  },
  deleteKey: {
    id: "deleteSecret",
    summary: "Delete one key of a set",
    method: "DELETE",
    path: "/secrets/:set/:secretKey",
    right: "manage",
    answer: Done,
    refusals: [409],
  },
});
