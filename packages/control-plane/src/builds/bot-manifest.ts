import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import semver from "semver";
import { z } from "zod";
import { BuildProblem } from "./build-problem.ts";

const Versions = z.record(z.string(), z.string()).optional();

/** The fields we read of a bot's package.json. */
export const BotManifest = z.looseObject({
  type: z.string().optional(),
  dependencies: Versions,
  devDependencies: Versions,
  optionalDependencies: Versions,
  peerDependencies: Versions,
});
export type BotManifest = z.infer<typeof BotManifest>;

const FILE = "package.json";

/** Reads the manifest, or writes the one a single bot file needs. */
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

/** Returns the packages the bot needs to run, without the SDK, which the service supplies. */
export function neededPackages(manifest: BotManifest): Record<string, string> {
  const { vocalhost: _sdk, ...needed } = { ...manifest.optionalDependencies, ...manifest.dependencies };
  for (const [name, wanted] of Object.entries(needed))
    if (/^(?:file|link|portal):(?:\/|~|.*\.\.)|^(?:\/|~\/|\.\.|\.\/.*\.\.)/.test(wanted))
      throw new BuildProblem(`The dependency ${name} is outside of the bot's folder: ${wanted}`);
  return needed;
}

/** Returns the SDK version the bot asks for, in any list of dependencies. */
export function wantedSdk(manifest: BotManifest): string | undefined {
  return (
    manifest.dependencies?.["vocalhost"] ??
    manifest.devDependencies?.["vocalhost"] ??
    manifest.peerDependencies?.["vocalhost"]
  );
}

/**
 * Returns whether npm would accept this version for the one in package.json; undefined if that is no version range.
 */
export function fitsWanted(version: string, wanted: string): boolean | undefined {
  const range = wanted.trim().replace(/^workspace:/, "");
  if (/^(?:latest|next)$/i.test(range)) return true;
  return semver.validRange(range) === null ? undefined : semver.satisfies(version, range);
}
