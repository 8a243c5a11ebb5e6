import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import semver from "semver";
import { z } from "zod";
import { BuildProblem } from "./build-problem.ts";

const Versions = z.record(z.string(), z.string()).optional();

/** What we read of a bot's package.json. */
export const BotManifest = z.looseObject({
  type: z.string().optional(),
  dependencies: Versions,
  devDependencies: Versions,
  optionalDependencies: Versions,
  peerDependencies: Versions,
});
export type BotManifest = z.infer<typeof BotManifest>;

const FILE = "package.json";

/** Reads it, or writes the one that a bare bot file needs. */
export async function readManifest(folder: string): Promise<{ manifest: BotManifest; text: string }> {
  const path = join(folder, FILE);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) {
    const manifest = { private: true, type: "module" };
    await writeManifest(folder, manifest);
    return { manifest, text: JSON.stringify(manifest) };
  }
  try {
    return { manifest: BotManifest.parse(JSON.parse(text)), text };
  } catch (cause) {
    throw new BuildProblem("package.json is not a valid package manifest", { cause });
  }
}

export async function writeManifest(folder: string, manifest: object | string): Promise<void> {
  const text = typeof manifest === "string" ? manifest : `${JSON.stringify(manifest, null, 2)}\n`;
  await writeFile(join(folder, FILE), text);
}

/** The packages the bot needs to run, without the SDK, which the service brings. */
export function neededPackages(manifest: BotManifest): Record<string, string> {
  const { vocalhost: _sdk, ...needed } = { ...manifest.optionalDependencies, ...manifest.dependencies };
  for (const [name, wanted] of Object.entries(needed))
    if (/^(?:file|link|portal):(?:\/|~|.*\.\.)|^(?:\/|~\/|\.\.|\.\/.*\.\.)/.test(wanted))
      throw new BuildProblem(`The dependency ${name} is outside of the bot's folder: ${wanted}`);
  return needed;
}

/** What the bot asks of the SDK, wherever it asks. */
export function wantedSdk(manifest: BotManifest): string | undefined {
  return (
    manifest.dependencies?.["vocalhost"] ??
    manifest.devDependencies?.["vocalhost"] ??
    manifest.peerDependencies?.["vocalhost"]
  );
}

/** Whether npm would take this version for what package.json asks for; undefined when that is no range of versions. */
export function fitsWanted(version: string, wanted: string): boolean | undefined {
  const range = wanted.trim().replace(/^workspace:/, "");
  if (/^(?:latest|next)$/i.test(range)) return true;
  return semver.validRange(range) === null ? undefined : semver.satisfies(version, range);
}
