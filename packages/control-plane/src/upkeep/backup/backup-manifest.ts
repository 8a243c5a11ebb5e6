import { z } from "zod";

/** The last entry of a backup: without it the archive is not whole. */
export const BackupManifest = z.object({
  format: z.literal(1),
  /** The version of the program that made the backup. */
  version: z.string(),
  createdAt: z.iso.datetime(),
  databaseSha256: z.string(),
  sessions: z.number(),
  agents: z.number(),
  builds: z.array(z.string()),
});
export type BackupManifest = z.infer<typeof BackupManifest>;

export const MANIFEST_FILE = "backup.json";
export const DATABASE_FILE = "vocalhost.db";
export const BUILDS_FOLDER = "builds";
/** What the service signs and encrypts with, and the keys of its first start. Absent ones were in the configuration. */
export const KEY_FILES = ["master-keys", "service-secret", "first-run.json"];
/** In the data folder while a restore is under way; a service does not start beside it. */
export const RESTORING_FOLDER = ".restoring";

/** Where the service that a backup is of, or is for, keeps what it has. */
export interface BackedUpService {
  dataFolder: string;
  databaseUrl: string | undefined;
}
