import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The images that the service has pulled. It must not remove others. */
export interface PulledImages {
  /** Called before the image is pulled. */
  note(reference: string): Promise<void>;
  notedBefore(ms: number): Promise<string[]>;
  drop(reference: string): Promise<void>;
}

export function openPulledImages(folder: string): PulledImages {
  const fileOf = (reference: string): string =>
    join(folder, createHash("sha256").update(reference).digest("hex"));
  return {
    async note(reference) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(fileOf(reference), reference);
    },
    async notedBefore(ms) {
      const names = await readdir(folder).catch(() => []);
      const old: string[] = [];
      for (const name of names) {
        const file = join(folder, name);
        const found = await stat(file).catch(() => undefined);
        if (found && found.mtimeMs <= ms) old.push(await readFile(file, "utf8"));
      }
      return old;
    },
    drop: (reference) => rm(fileOf(reference), { force: true }),
  };
}
