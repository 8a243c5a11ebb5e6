import { createHmac, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { ConfigError } from "@vocalhost/base/config-error";
import { openMasterKeyFile, parseMasterKeys, type MasterKeys } from "../../secrets/master-keys.ts";
import { missingKeys } from "../../secrets/rewrap.ts";

/** The secrets the service signs and encrypts with, which are never in the store. */
export interface ServiceSecrets {
  masterKeys: MasterKeys;
  /** Signs tokens for sockets and for sessions. */
  socketSecret: string;
  /** Signs cookies. */
  peopleSecret: string;
  instanceToken(instanceId: string): string;
  /** Signs the tokens of our own room server. */
  roomsSecret: string;
  /** Identifies the secrets without revealing any. */
  secretMark: string;
  /** True if no master key existed and one was created. */
  isNewMasterKey: boolean;
}

const SECRET_MIN_CHARACTERS = 32;

/**
 * Reads the secrets from the configuration, else from files of the data folder. The first start creates the files; a
 * store that already needs a key gets no new one.
 */
export async function openServiceSecrets(
  config: Pick<Config, "dataFolder" | "masterKeys" | "secret">,
  neededKeys: readonly string[],
): Promise<ServiceSecrets> {
  await mkdir(config.dataFolder, { recursive: true, mode: 0o700 });
  const file = masterKeyFile(config.dataFolder);
  if (config.masterKeys === undefined && neededKeys.length > 0 && !existsSync(file))
    throw missingKeys(neededKeys, file);
  const { keys, created } = await openMasterKeys(config);
  const secret = config.secret ?? (await secretFile(join(config.dataFolder, "service-secret")));
  if (secret.length < SECRET_MIN_CHARACTERS)
    throw new ConfigError(`VOCALHOST_SECRET must have at least ${SECRET_MIN_CHARACTERS} characters`);
  const derive = (purpose: string): string => createHmac("sha256", secret).update(purpose).digest("hex");
  return {
    masterKeys: keys,
    socketSecret: derive("sockets"),
    peopleSecret: derive("people"),
    roomsSecret: derive("rooms"),
    secretMark: derive("mark"),
    instanceToken: (instanceId) => derive(`instance:${instanceId}`),
    isNewMasterKey: created,
  };
}

export function masterKeyFile(dataFolder: string): string {
  return join(dataFolder, "master-keys");
}

async function openMasterKeys({ dataFolder, masterKeys }: Pick<Config, "dataFolder" | "masterKeys">) {
  try {
    if (masterKeys === undefined) return await openMasterKeyFile(masterKeyFile(dataFolder));
    return { keys: parseMasterKeys(masterKeys), created: false };
  } catch (error) {
    if (!(error instanceof Error) || "code" in error) throw error;
    const where = masterKeys === undefined ? "" : "VOCALHOST_MASTER_KEYS: ";
    throw new ConfigError(`${where}${error.message}`, { cause: error });
  }
}

async function secretFile(path: string): Promise<string> {
  try {
    await using file = await open(path, "wx", 0o600);
    await file.writeFile(randomBytes(32).toString("hex"));
    await file.sync();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  return (await readFile(path, "utf8")).trim();
}
