import { z } from "zod";
import { operations } from "./operation.ts";
import { Done, Time } from "./values.ts";

const KeyKind = z.enum(["private", "public"]);

export const CreateKey = z.object({
  name: z.string().min(1).max(100),
  type: KeyKind,
  /** Agents a public key may start. @default all */
  agents: z.array(z.string().max(54)).max(100).nullish(),
  /** Starts a minute. */
  ratePerMinute: z.number().int().min(1).max(1_000_000).nullish(),
  /** Sessions at once. */
  concurrency: z.number().int().min(1).max(1_000_000).nullish(),
  expiresAt: Time.nullish(),
});
export type CreateKey = z.infer<typeof CreateKey>;

/** A private `key` is shown this once. */
export const KeyCreated = z.object({ id: z.string(), key: z.string() });
export type KeyCreated = z.infer<typeof KeyCreated>;

export const Key = z.object({
  id: z.string(),
  /** A public one whole, for those who may manage keys; else its prefix and last four characters. */
  key: z.string(),
  createdAt: Time,
  revoked: z.boolean(),
  metadata: z.object({ name: z.string() }),
  agents: z.array(z.string()).nullable(),
  ratePerMinute: z.number().int().nullable(),
  concurrency: z.number().int().nullable(),
  expiresAt: Time.nullable(),
  lastUsedAt: Time.nullable(),
});
export type Key = z.infer<typeof Key>;

export const KeyList = z.object({ public: z.array(Key), private: z.array(Key) });
export type KeyList = z.infer<typeof KeyList>;

/** The old key works on for this long. */
export const RotateKey = z.object({ overlapSeconds: z.number().int().min(0).max(604_800).default(0) });
export type RotateKey = z.infer<typeof RotateKey>;

export const keyOperations = operations("Keys", {
  list: {
    id: "listKeys",
    summary: "Keys; public ones whole for those who may manage them, all others masked",
    method: "GET",
    path: "/keys",
    right: "view",
    answer: KeyList,
  },
  create: {
    id: "createKey",
    summary: "Make a key; a private one is shown in this answer only",
    method: "POST",
    path: "/keys",
    right: "manage",
    body: CreateKey,
    answer: KeyCreated,
  },
  rotate: {
    id: "rotateKey",
    summary: "Make a key with the same rights; the old one works on for a while",
    method: "POST",
    path: "/keys/:keyId/rotate",
    right: "manage",
    body: RotateKey,
    answer: KeyCreated,
  },
  revoke: {
    id: "revokeKey",
    summary: "Revoke a key; its record stays",
    method: "DELETE",
    path: "/keys/:keyId",
    right: "manage",
    answer: Done,
  },
});
