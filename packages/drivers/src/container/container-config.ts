import { engineSockets, parseImageReference, type EngineSocket } from "@vocalhost/images";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { PullSecret } from "../driver.ts";

/** What running bots in containers needs to know. */
export interface ContainerConfig {
  kind: "container";
  folder: string;
  /** In the order in which an engine is looked for at them. */
  sockets: EngineSocket[];
  network: string;
  /** Internal ones that images may come from all the same. */
  registries: string[];
  builds: ContainerBuildsConfig;
}

export interface ContainerBuildsConfig {
  /** Whether commands of a Dockerfile have the instances' network, or none. */
  hasNetwork: boolean;
  memoryMib: number;
  /** Where builds are pushed to. */
  registry: { repository: string; secret: PullSecret | undefined } | undefined;
  /** For npm in a Dockerfile. */
  npmRegistry: string | undefined;
  /** Folders of images that the base may be in. */
  imageFolders: string[];
  /** Folder with our packages that the base is made of, instead of npm's. */
  basePackages: string | undefined;
  /** Where the service makes the base itself. */
  ownFolder: string;
}

type Environment = Record<string, string | undefined>;

const MEMORY_MIB = { preset: 2_048, min: 128, max: 1_048_576 };
const PUBLIC_NPM = /^https:\/\/registry\.npmjs\.org\/?$/;

/** Throws an error whose message names the setting that is wrong. */
export function readContainer(
  environment: Environment,
  { dataFolder, registries }: { dataFolder: string; registries: string[] },
): ContainerConfig {
  const text = (name: string): string | undefined => environment[`VOCALHOST_${name}`] || undefined;
  return {
    kind: "container",
    // Not that of processes: what one driver has made the other cannot end.
    folder: join(dataFolder, "containers"),
    sockets: engineSockets(environment, homedir()),
    network: readNetwork(text("CONTAINER_NETWORK") ?? "vocalhost"),
    registries,
    builds: {
      hasNetwork: readBuildNetwork(text("BUILD_NETWORK") ?? "open"),
      memoryMib: readMemory(text("BUILD_MEMORY_MIB")),
      registry: readBuildRegistry(text),
      npmRegistry: readNpmRegistry(environment),
      imageFolders: imageFolders(environment),
      basePackages: text("BASE_PACKAGES"),
      ownFolder: join(dataFolder, "base-image"),
    },
  };
}

function readNetwork(text: string): string {
  if (/^[a-zA-Z0-9][\w.-]{0,63}$/.test(text) && !/^(?:host|none|container)$/.test(text)) return text;
  throw new Error(`VOCALHOST_CONTAINER_NETWORK must be the name of an own network, got "${text}"`);
}

function readBuildNetwork(text: string): boolean {
  if (text === "open" || text === "none") return text === "open";
  throw new Error(`VOCALHOST_BUILD_NETWORK must be open or none, got "${text}"`);
}

function readMemory(text: string | undefined): number {
  const { preset, min, max } = MEMORY_MIB;
  const mib = Number(text ?? preset);
  if (Number.isInteger(mib) && mib >= min && mib <= max) return mib;
  throw new Error(`VOCALHOST_BUILD_MEMORY_MIB must be a whole number from ${min} to ${max}, got "${text}"`);
}

function readBuildRegistry(text: (name: string) => string | undefined): ContainerBuildsConfig["registry"] {
  const repository = text("BUILD_REGISTRY");
  const username = text("BUILD_REGISTRY_USERNAME");
  const file = text("BUILD_REGISTRY_PASSWORD_FILE");
  const password = file === undefined ? text("BUILD_REGISTRY_PASSWORD") : readFileSync(file, "utf8").trim();
  if (repository === undefined) return undefined;
  if ((username === undefined) !== (password === undefined))
    throw new Error(
      "VOCALHOST_BUILD_REGISTRY_USERNAME and VOCALHOST_BUILD_REGISTRY_PASSWORD (or …_PASSWORD_FILE) belong together",
    );
  const { registry: host } = requireRepository(repository);
  const secret =
    username === undefined || password === undefined ? undefined : { host, username, token: password };
  return { repository, secret };
}

function requireRepository(repository: string): { registry: string } {
  const advice = `VOCALHOST_BUILD_REGISTRY must be such as registry.example.com/team/bots, without a tag, got "${repository}"`;
  try {
    const { registry, digest } = parseImageReference(repository);
    const isTagged = digest !== undefined || /:[^/]*$/.test(repository.slice(registry.length));
    if (isTagged || registry === "localhost") throw new Error(advice);
    return { registry };
  } catch (cause) {
    throw new Error(advice, { cause });
  }
}

/** As the builder has it; one with a password in it stays with us. */
function readNpmRegistry(environment: Environment): string | undefined {
  const registry = environment["npm_config_registry"] ?? environment["NPM_CONFIG_REGISTRY"];
  if (!registry || PUBLIC_NPM.test(registry) || !URL.canParse(registry)) return undefined;
  const { username, password } = new URL(registry);
  return username || password ? undefined : registry;
}

/** The one that was named, and where `vocalhost image build` keeps images. */
function imageFolders(environment: Environment): string[] {
  const named = environment["VOCALHOST_BASE_IMAGES"];
  const cache = environment["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return [...(named ? [resolve(named)] : []), join(cache, "vocalhost/images")];
}
