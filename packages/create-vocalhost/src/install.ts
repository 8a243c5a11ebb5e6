import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installEnvironment } from "./config.ts";
import type { PackageManager } from "./options.ts";

const SAID_MAX_CHARACTERS = 4_000;
const ARGUMENTS: Record<PackageManager, string[]> = {
  npm: ["install", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"],
  pnpm: ["install"],
  yarn: ["install"],
  bun: ["install"],
};

/** Installs the packages of a project. Gives what went wrong, or nothing; rejects when it was interrupted. */
export async function installPackages(
  folder: string,
  packageManager: PackageManager,
  signal: AbortSignal,
): Promise<string | undefined> {
  signal.throwIfAborted();
  const isWindows = process.platform === "win32";
  const child = spawn(packageManager, ARGUMENTS[packageManager], {
    cwd: folder,
    env: installEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
    shell: isWindows, // package managers are scripts there
    detached: !isWindows, // so that all it starts can be ended with it
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream
      .setEncoding("utf8")
      .on("data", (text: string) => (said = (said + text).slice(-SAID_MAX_CHARACTERS)));
  const end = (): void => {
    if (child.pid !== undefined) endGroup(child.pid);
  };
  signal.addEventListener("abort", end, { once: true });
  try {
    const [code] = (await once(child, "close")) as [number | null];
    signal.throwIfAborted();
    return code === 0 ? undefined : said.trim() || `${packageManager} ended with exit code ${code}`;
  } catch (error) {
    signal.throwIfAborted();
    return `${packageManager} cannot be started: ${(error as Error).message}`;
  } finally {
    signal.removeEventListener("abort", end);
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // it has ended by itself
  }
}

/** Packages that came in the same archive as this one, so that a project needs no registry for them. */
interface BroughtPackages {
  /** Where they lie in the project: path → content. */
  files: Map<string, Uint8Array>;
  /** Name → what npm understands. */
  sources: Record<string, string>;
}

const FOLDER = fileURLToPath(new URL("../packages/", import.meta.url));
const IN_PROJECT = "packages";

/** Undefined when this package was installed by itself. */
export function broughtPackages(folder = FOLDER): BroughtPackages | undefined {
  if (!existsSync(folder)) return undefined;
  const names = JSON.parse(readFileSync(join(folder, "names.json"), "utf8")) as Record<string, string>;
  const archives = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  return {
    files: new Map(
      archives.map((name) => [`${IN_PROJECT}/${name}`, readFileSync(join(folder, name))] as const),
    ),
    sources: Object.fromEntries(
      Object.entries(names).map(([name, file]) => [name, `file:${IN_PROJECT}/${file}`]),
    ),
  };
}
