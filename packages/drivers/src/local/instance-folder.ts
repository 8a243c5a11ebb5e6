import { mkdir } from "node:fs/promises";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readPlainText, replaceFile } from "./guarded-files.ts";

const RECORD_MAX_BYTES = 64 * 1024;

/** A process, as it is written down. */
export const IdentityFile = z.object({
  pid: z.number().int().positive(),
  startedTicks: z.string().optional(),
  bootId: z.string().optional(),
});

/** Undefined when it is missing or was never finished. */
export async function readJson<S extends z.ZodType>(
  schema: S,
  ...path: string[]
): Promise<z.infer<S> | undefined> {
  try {
    return schema.parse(JSON.parse((await readPlainText(join(...path), RECORD_MAX_BYTES)) ?? ""));
  } catch {
    return undefined;
  }
}

export async function writeJson(value: object, ...path: string[]): Promise<void> {
  await replaceFile(join(...path), JSON.stringify(value));
}

/** Writes synchronously, so that nothing can happen before the file is there. */
export function writeJsonAtOnce(value: object, ...path: string[]): void {
  const target = join(...path);
  rmSync(`${target}.tmp`, { recursive: true, force: true });
  writeFileSync(`${target}.tmp`, JSON.stringify(value), { mode: 0o600, flag: "wx" });
  renameSync(`${target}.tmp`, target);
}

/** False if it is there already. */
export async function makeFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

export function isId(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(name);
}

/** Ids become names of folders. */
export function requireId(id: string): string {
  if (isId(id)) return id;
  throw new TypeError(`Not an instance id: ${JSON.stringify(id)}`);
}
