import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type BotManifest, fitsWanted, neededPackages, wantedSdk, writeManifest } from "./bot-manifest.ts";
import { BuildProblem } from "./build-problem.ts";
import { RECORD_EVERY_SOURCE, refuseForeignPackages, refuseTakenFromOutside } from "./foreign-packages.ts";
import { keepBuildLinksInside } from "./keep-links-inside.ts";

export interface PackageOptions {
  folder: string;
  manifest: BotManifest;
  /** The original package.json of the bot's author. */
  manifestText: string;
  /** The service's own copy of the package `vocalhost`. */
  sdkFolder: string;
  /** Whether packages may come from Git or from any address. */
  allowsForeignPackages: boolean;
  say(line: string): void;
}

export interface InstallOptions extends PackageOptions {
  /** Where a bot without its own copy of the SDK finds one: through a link to ours, or in its base image. */
  sdk: "linked" | "of the base";
}

const NPM_ARGUMENTS = [
  "install",
  "--omit=dev",
  "--no-audit",
  "--no-fund",
  "--ignore-scripts",
  "--no-progress",
];

/** Forbids Git, and replaces the registry hosts of lock files by ours. */
const OWN_REGISTRY_ONLY = ["--git=no-git-for-builds", "--replace-registry-host=always"];
/** The platform of the base, whatever this machine's C library is. */
const OF_THE_BASE = ["--os=linux", `--cpu=${process.arch}`, "--libc=glibc"];
/** npm reads programs to run and paths to read and write from it. */
const SETTINGS_FILE = ".npmrc";

/**
 * Returns the packages the bot's folder needs, after checking that they are allowed. Removes the folder's own npm
 * settings.
 */
export async function checkPackages(options: PackageOptions): Promise<Record<string, string>> {
  const { folder, say } = options;
  const needed = neededPackages(options.manifest);
  if (!options.allowsForeignPackages)
    await refuseForeignPackages(folder, { manifest: options.manifest, needed });
  if (existsSync(join(folder, SETTINGS_FILE))) say(`The bot's own ${SETTINGS_FILE} is not used`);
  await rm(join(folder, SETTINGS_FILE), { recursive: true, force: true });
  return needed;
}

/** Installs everything the bot imports into its folder. No package code runs. */
export async function installPackages(options: InstallOptions): Promise<void> {
  const { folder, say } = options;
  const needed = await checkPackages(options);
  const brought = join(folder, "node_modules/vocalhost");
  const aside = join(folder, ".vocalhost-brought");
  const isBrought = existsSync(brought);
  if (Object.keys(needed).length === 0) say("No packages to install");
  else {
    if (isBrought) await rename(brought, aside); // npm removes packages it was not asked for
    await installWithNpm(options, needed);
    if (isBrought) await rename(aside, brought);
  }
  if (!isBrought) {
    await requireSdk(options);
    if (options.sdk === "of the base") return;
    await linkSdk(options);
  }
  requireInstance(folder);
}

// npm sees only the packages to install; the bot's own files stay unchanged.
async function installWithNpm(options: InstallOptions, needed: Record<string, string>): Promise<void> {
  const { folder, manifest, say } = options;
  const lock = join(folder, "package-lock.json");
  const lockText = await readFile(lock, "utf8").catch(() => undefined);
  const {
    devDependencies: _dev,
    peerDependencies: _peer,
    optionalDependencies: _optional,
    scripts: _scripts,
    packageManager: _manager, // may name a program to download and run instead of npm
    devEngines: _engines,
    ...rest
  } = manifest;
  await writeManifest(folder, { ...rest, dependencies: needed });
  say(`Installing ${Object.keys(needed).length} packages with npm`);
  try {
    const rules = options.allowsForeignPackages ? [] : OWN_REGISTRY_ONLY;
    const target = options.sdk === "of the base" ? OF_THE_BASE : [];
    await runNpm(folder, { ...options, more: [...RECORD_EVERY_SOURCE, ...rules, ...target] });
    await keepBuildLinksInside(folder);
    await refuseTakenFromOutside(folder);
  } finally {
    await writeManifest(folder, options.manifestText);
    if (lockText === undefined) await rm(lock, { force: true });
    else await writeFile(lock, lockText);
  }
}

async function runNpm(
  folder: string,
  { say, more }: { say(line: string): void; more: readonly string[] },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = spawn("npm", [...NPM_ARGUMENTS, ...more], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on("line", (line) => (line.trim() === "" ? undefined : say(line)));
  child.once("error", (cause) => reject(new Error(`npm cannot be started: ${cause.message}`, { cause })));
  child.once("close", (code, signal) =>
    code === 0
      ? resolve()
      : reject(new BuildProblem(`npm install failed (${signal ?? `exit code ${code}`})`)),
  );
  await promise;
}

/** The base has the same version as this service. */
async function requireSdk({ manifest, sdkFolder, say }: InstallOptions): Promise<void> {
  const { version } = JSON.parse(await readFile(join(sdkFolder, "package.json"), "utf8")) as {
    version: string;
  };
  const wanted = wantedSdk(manifest);
  const fits = wanted === undefined ? true : fitsWanted(version, wanted);
  if (fits === false)
    throw new BuildProblem(
      `The bot wants vocalhost ${wanted}, and this service has ${version}. Change package.json, or install the wanted version into node_modules and upload that`,
    );
  if (fits === undefined) say(`vocalhost is wanted as ${wanted}; using ${version} of this service`);
  else say(`Using vocalhost ${version}`);
}

async function linkSdk({ folder, sdkFolder }: InstallOptions): Promise<void> {
  await mkdir(join(folder, "node_modules"), { recursive: true });
  await rm(join(folder, "node_modules/vocalhost"), { recursive: true, force: true });
  await symlink(sdkFolder, join(folder, "node_modules/vocalhost"));
}

function requireInstance(folder: string): void {
  try {
    createRequire(join(folder, "package.json")).resolve("vocalhost/instance");
  } catch (cause) {
    throw new BuildProblem(
      "The version of vocalhost in node_modules is too old for this service, or incomplete",
      {
        cause,
      },
    );
  }
}
