import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { toNodeArchitecture, type Platform } from "../platform.ts";
import { BuildProblem } from "../run-program.ts";
import type { BuildFolder } from "../build-folder.ts";

/** The files that a bot's packages are installed from. */
export interface BotManifest {
  /** `package.json` without what the base has already. */
  manifest: string;
  /** `package-lock.json`, or nothing. */
  lock: string;
}

const Manifest = z.looseObject({
  dependencies: z.record(z.string(), z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
});

const SDK = "vocalhost";
const INSTALL_MS = 600_000;

/** Undefined if the bot needs nothing that the base does not have. */
export async function readBotManifest(
  folder: string,
  productVersion: string | undefined,
): Promise<BotManifest | undefined> {
  const read = (name: string): Promise<string> => readFile(join(folder, name), "utf8");
  if (!existsSync(join(folder, "package.json"))) return undefined;
  const manifest = parseManifest(await read("package.json"), folder);
  const { [SDK]: sdk, ...dependencies } = manifest.dependencies ?? {};
  const usesBase = sdk !== undefined && productVersion !== undefined && accepts(sdk, productVersion);
  const wanted = sdk === undefined || usesBase ? dependencies : { ...dependencies, [SDK]: sdk };
  const { optionalDependencies } = manifest;
  const all = { ...optionalDependencies, ...wanted };
  if (Object.keys(all).length === 0) return undefined;
  const [local] = Object.entries(all).filter(([, spec]) => /^(?:file|link|workspace|portal):/.test(spec));
  if (local)
    throw new BuildProblem(
      `The bot needs ${local.join(" from ")}, which no registry has; publish it, or copy its code into the bot's folder`,
    );
  const lock = existsSync(join(folder, "package-lock.json")) ? await read("package-lock.json") : "";
  const reduced = { private: true, dependencies: wanted, optionalDependencies };
  return { manifest: JSON.stringify(reduced), lock };
}

/** Gives the `node_modules` it made. No script of any package is run. */
export async function installDependencies(
  buildFolder: BuildFolder,
  platform: Platform,
  { manifest, lock }: BotManifest,
): Promise<string> {
  const folder = join(buildFolder.folder, `bot-${platform.architecture}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "node_modules"), { recursive: true });
  await writeFile(join(folder, "package.json"), manifest);
  if (lock !== "") await writeFile(join(folder, "package-lock.json"), lock);
  const target = ["--os=linux", `--cpu=${toNodeArchitecture(platform)}`, "--libc=glibc"];
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--omit=dev"];
  await buildFolder.run("npm", ["install", ...target, ...quiet], {
    purpose: "to install the bot's packages",
    cwd: folder,
    timeoutMs: INSTALL_MS,
  });
  await rm(join(folder, "node_modules/.package-lock.json"), { force: true }); // names folders and times
  return join(folder, "node_modules");
}

/** Tells whether a range that package managers write takes this version; npm judges other ranges. */
export function accepts(range: string, version: string): boolean {
  if (["*", "x", "latest", ""].includes(range)) return true;
  const [, sign = "", ...wanted] = /^([~^]?)(\d+)\.(\d+)\.(\d+)$/.exec(range) ?? [];
  const given = /^(\d+)\.(\d+)\.(\d+)$/.exec(version)?.slice(1).map(Number);
  if (wanted.length === 0 || !given) return false;
  const [major = 0, minor = 0, patch = 0] = wanted.map(Number);
  const [givenMajor = 0, givenMinor = 0, givenPatch = 0] = given;
  if (sign === "") return range === version;
  if (givenMajor !== major) return false;
  const isMinorFixed = sign === "~" || major === 0;
  if (isMinorFixed) {
    const isPatchFixed = sign === "^" && major === 0 && minor === 0;
    return givenMinor === minor && (isPatchFixed ? givenPatch === patch : givenPatch >= patch);
  }
  return givenMinor > minor || (givenMinor === minor && givenPatch >= patch);
}

function parseManifest(text: string, folder: string): z.infer<typeof Manifest> {
  try {
    return Manifest.parse(JSON.parse(text));
  } catch {
    throw new BuildProblem(`${join(folder, "package.json")} cannot be read`);
  }
}
