import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { BASE_VERSION } from "@vocalhost/base/version";
import type { BotManifest } from "./bot-manifest.ts";
import type { BuildFacts } from "./build-facts.ts";
import { BuildProblem } from "./build-problem.ts";

const BOT_FILES = ["bot.ts", "bot.js", "bot.mjs", "src/bot.ts", "src/bot.js", "src/bot.mjs"];
const LOCK_FILES = ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock"];
const FILTER_PACKAGE = /(^|[/_-])viva([/_-]|$)/;

/** Finds the facts a deployment needs about the bot, without running any of its code. */
export async function findFacts(
  folder: string,
  { manifest, dockerfilePath }: { manifest: BotManifest; dockerfilePath: string },
): Promise<BuildFacts> {
  const botFile = BOT_FILES.find((name) => existsSync(join(folder, name)));
  if (botFile === undefined)
    throw new BuildProblem(
      `No bot found. The folder needs one of ${BOT_FILES.join(", ")} that exports "bot"`,
    );
  const filterPackages = await filterPackagesIn(folder, manifest);
  if (filterPackages.length > 0) throw new BuildProblem(filterPackageProblem(filterPackages));
  return { botFile, baseVersion: await baseVersionIn(join(folder, dockerfilePath)), filterPackages };
}

/** Also reported for builds made before this check existed. */
export function filterPackageProblem(packages: readonly string[]): string {
  return `The base image brings the voice filter. Remove ${packages.join(", ")} from the bot's dependency files and build again`;
}

async function baseVersionIn(dockerfile: string): Promise<string> {
  const text = await readFile(dockerfile, "utf8").catch(() => "");
  const from = /^\s*FROM\s+(?:--\S+\s+)*(?:docker\.io\/)?vocalhost\/base:([^\s@]+)/im.exec(text);
  return from?.[1] ?? BASE_VERSION;
}

async function filterPackagesIn(folder: string, manifest: BotManifest): Promise<string[]> {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = manifest;
  const names = new Set(
    Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies }),
  );
  for (const file of LOCK_FILES) {
    const text = await readFile(join(folder, file), "utf8").catch(() => "");
    const locked = packagesIn(text);
    // Our own command line depends on the service and so on its filter; a bot that only uses the command does not.
    const isServices = locked.includes("@vocalhost/control-plane");
    for (const name of locked) if (!(isServices && name === "@vocalhost/viva")) names.add(name);
  }
  return [...names].filter((name) => FILTER_PACKAGE.test(name)).sort();
}

// Matches package names in every lock file format: `"node_modules/a/node_modules/@b/c"`, `'@b/c@1.0.0':`, `"c@^1":`.
function packagesIn(lock: string): string[] {
  const installed = [...lock.matchAll(/"(?:[^"\s]*\/)?node_modules\/((?:@[\w.-]+\/)?[\w.-]+)"\s*:/g)];
  const locked = [...lock.matchAll(/^\s*["']?\/?((?:@[\w.-]+\/)?[\w.-]+)@[^\n]*:\s*$/gm)];
  return [...installed, ...locked].map(([, name = ""]) => name);
}
