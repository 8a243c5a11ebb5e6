import { randomBytes } from "node:crypto";
import { open, readFile, stat } from "node:fs/promises";

/** First encrypts, all decrypt. Never in the store. */
export type MasterKeys = readonly [MasterKey, ...MasterKey[]];

export interface MasterKey {
  id: string;
  key: Buffer;
}

const KEY_BYTES = 32;
const ENTRY = /^([A-Za-z0-9._-]{1,64}):([A-Za-z0-9+/]{43}=)$/;

/** `id:base64` of 32 bytes, one per line or separated by commas. */
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

/** Reads the file, or makes one with a fresh key. Without this file no stored secret can be read. */
export async function openMasterKeyFile(path: string): Promise<{ keys: MasterKeys; created: boolean }> {
  const created = await createKeyFile(path);
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) {
    throw new Error(`Others can read the master key file ${path}; run: chmod 600 ${path}`);
  }
  return { keys: parseMasterKeys(await readFile(path, "utf8")), created };
}

function parseEntry(entry: string): MasterKey {
  const [, id, base64] = ENTRY.exec(entry) ?? [];
  // The entry itself is a secret, so the message does not show it.
  if (id === undefined || base64 === undefined) {
    throw new Error("A master key must look like id:base64, with 32 bytes in base64");
  }
  return { id, key: Buffer.from(base64, "base64") };
}

async function createKeyFile(path: string): Promise<boolean> {
  const id = `k${new Date().toISOString().slice(0, 10).replaceAll("-", "")}`;
  try {
    await using file = await open(path, "wx", 0o600);
    await file.writeFile(`${id}:${randomBytes(KEY_BYTES).toString("base64")}\n`);
    await file.sync();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}
