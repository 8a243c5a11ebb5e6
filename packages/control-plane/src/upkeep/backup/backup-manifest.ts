import { z } from "zod";

/** The last entry of a backup; an archive without it is incomplete. */
export const BackupManifest = z.object({
  format: z.literal(1),
  /** Version of the program that made the backup. */
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
/** The service's keys, and those of its first start. Absent ones were in the configuration. */
export const KEY_FILES = ["master-keys", "service-secret", "first-run.json"];
/** Exists in the data folder during a restore; the service refuses to start beside it. */
export const RESTORING_FOLDER = ".restoring";

/** Locations of the data of the service that is backed up or restored. */
export interface BackedUpService {
  dataFolder: string;
  databaseUrl: string | undefined;
}
