import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** A developer's folder somewhere on the disk, with the packages installed. */
export interface BotFolder extends Disposable {
  readonly path: string;
  /** Path of one of its files as `startRunnerProcess` wants it. */
  bot(name: string): string;
}

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));

export function createBotFolder(files: Record<string, string>): BotFolder {
  const path = mkdtempSync(join(tmpdir(), "vocalhost-e2e-"));
  symlinkSync(join(REPOSITORY, "node_modules"), join(path, "node_modules"));
  writeFileSync(join(path, "package.json"), JSON.stringify({ type: "module" }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return {
    path,
    bot: (name) => relative(REPOSITORY, join(path, name)),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
