import type { Settings } from "@vocalhost/protocol";
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { open, readFile, rename, rm, stat } from "node:fs/promises";

export const masterKeySettings = {
  masterKeys: {
    name: "VOCALHOST_MASTER_KEYS",
    isSecret: true,
    preset: "`master-keys` in the data folder",
    help: "`id:base64` of 32 bytes, separated by commas: the first encrypts, all decrypt. Without them stored secrets cannot be read",
  },
} as const satisfies Settings;

/** The first key encrypts, all decrypt. They are never in the store. */
export type MasterKeys = readonly [MasterKey, ...MasterKey[]];

export interface MasterKey {
  id: string;
  key: Buffer;
}

const KEY_BYTES = 32;
const MADE_HERE = /^k\d{8}-([0-9a-f]{8})$/;
const ENTRY = /^([A-Za-z0-9._-]{1,64}):([A-Za-z0-9+/]{43}=)$/;

/** Parses `id:base64` of 32 bytes, one per line or separated by commas. */
export function parseMasterKeys(text: string): MasterKeys {
  const keys = text
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .map(parseEntry);
  const [first, ...others] = keys;
  if (!first) throw new Error("No master key is configured");
  if (new Set(keys.map((key) => key.id)).size < keys.length)
    throw new Error("Two master keys have the same id");
  return [first, ...others];
}

/** Reads the file, or creates it with a new key. Without this file no stored secret can be decrypted. */
export async function openMasterKeyFile(
  path: string,
  { mayCreate = true }: { mayCreate?: boolean } = {},
): Promise<{ keys: MasterKeys; created: boolean }> {
  if (!mayCreate && !existsSync(path)) throw new Error(`There is no file ${path}`);
  const created = await createKeyFile(path);
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) {
    throw new Error(`Others can read the master key file ${path}; run: chmod 600 ${path}`);
  }
  return { keys: parseMasterKeys(await readFile(path, "utf8")), created };
}

function parseEntry(entry: string): MasterKey {
  const [, id, base64] = ENTRY.exec(entry) ?? [];
  // The entry itself is a secret, so the message does not quote it.
  if (id === undefined || base64 === undefined) {
    throw new Error("A master key must look like id:base64, with 32 bytes in base64");
  }
  const key = Buffer.from(base64, "base64");
  const [, fingerprint] = MADE_HERE.exec(id) ?? [];
  if (fingerprint !== undefined && fingerprint !== fingerprintOf(key))
    throw new Error(`The master key ${id} is not the one that its id names`);
  return { id, key };
}

/** Inserts a new key before those of the file, atomically. The others still decrypt. */
export async function addMasterKey(path: string): Promise<MasterKeys> {
  const before = await readFile(path, "utf8");
  const { uid, gid } = await stat(path);
  const added = `${path}.new`;
  await rm(added, { force: true });
  {
    await using file = await open(added, "wx", 0o600);
    await file.writeFile(`${newEntry()}\n${before}`);
    await file.chown(uid, gid); // an operator's command may run as another user than the service
    await file.sync();
  }
  await rename(added, path);
  return parseMasterKeys(await readFile(path, "utf8"));
}

/** Two keys of one day have different ids. */
function newEntry(): string {
  const key = randomBytes(KEY_BYTES);
  const day = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  return `k${day}-${fingerprintOf(key)}:${key.toString("base64")}`;
}

function fingerprintOf(key: Buffer): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 8);
}

async function createKeyFile(path: string): Promise<boolean> {
  try {
    await using file = await open(path, "wx", 0o600);
    await file.writeFile(`${newEntry()}\n`);
    await file.sync();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}
