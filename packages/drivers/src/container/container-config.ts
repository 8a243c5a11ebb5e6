import {
  list,
  oneOf,
  parsedBy,
  readSettings,
  wholeNumber,
  type Settings,
  type ValuesOf,
} from "@vocalhost/protocol";
import { engineSockets, parseImageReference } from "@vocalhost/images";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import type { PullSecret } from "../driver.ts";
import { parseReach } from "../network-policy/reach.ts";

const PUBLIC_NPM = /^https:\/\/registry\.npmjs\.org\/?$/;

/** `auto`: applied where the service may; `required`: or it does not start; `off`: the operator's network does it. */
export type NetworkPolicyMode = (typeof NETWORK_POLICY_MODES)[number];
const NETWORK_POLICY_MODES = ["auto", "required", "off"] as const;

export const containerSettings = {
  engine: {
    name: "VOCALHOST_CONTAINER_ENGINE",
    preset: "that of `DOCKER_HOST`, then the usual ones",
    help: "socket of Docker or Podman",
  },
  network: {
    name: "VOCALHOST_CONTAINER_NETWORK",
    schema: z
      .string()
      .regex(/^[a-zA-Z0-9][\w.-]{0,63}$/, "must be the name of a network of its own")
      .refine((name) => !/^(?:host|none|container)$/.test(name), "must be the name of a network of its own")
      .default("vocalhost"),
    help: "network of the engine that instances are in; the service makes it if it is missing",
  },
  networkPolicy: {
    name: "VOCALHOST_CONTAINER_NETWORK_POLICY",
    schema: oneOf(NETWORK_POLICY_MODES).default("auto"),
    help: "keeps bots in containers from this machine, private networks and each other: `auto`, `required` or `off`; see [isolation](isolation.md)",
  },
  reach: {
    name: "VOCALHOST_CONTAINER_REACH",
    schema: list.pipe(z.array(parsedBy(parseReach))).default([]),
    help: "exceptions to that policy, separated by commas: `host:443`, `host:3478/udp`, `10.0.5.7:8000`, `10.0.6.0/24`",
  },
} as const satisfies Settings;

/** How an engine builds images from Dockerfiles. */
export const imageBuildSettings = {
  network: {
    name: "VOCALHOST_BUILD_NETWORK",
    schema: oneOf(["open", "none"]).default("open"),
    help: "what commands of a Dockerfile reach: `open`, the same as bots; `none`, nothing. See [builds](builds.md)",
  },
  memoryMib: {
    name: "VOCALHOST_BUILD_MEMORY_MIB",
    schema: wholeNumber({ min: 128, max: 1_048_576 }).default(2_048),
    help: "MiB of memory that one build by the engine may use",
  },
  repository: {
    name: "VOCALHOST_BUILD_REGISTRY",
    schema: z
      .string()
      .refine(isRepository, "must be such as registry.example.com/team/bots, without a tag")
      .optional(),
    help: "repository that finished images are pushed to, such as `registry.example.com/team/bots`",
  },
  username: {
    name: "VOCALHOST_BUILD_REGISTRY_USERNAME",
    help: "user of that registry",
  },
  password: {
    name: "VOCALHOST_BUILD_REGISTRY_PASSWORD",
    isSecret: true,
    help: "password of that user",
  },
  passwordFile: {
    name: "VOCALHOST_BUILD_REGISTRY_PASSWORD_FILE",
    help: "file with that password, instead of the password",
  },
} as const satisfies Settings;

export const baseImageSettings = {
  baseImages: {
    name: "VOCALHOST_BASE_IMAGES",
    preset: "`~/.cache/vocalhost/images`",
    help: "folder of images with the base of bots, as `vocalhost image build --base` makes them",
  },
  basePackages: {
    name: "VOCALHOST_BASE_PACKAGES",
    preset: "those of npm",
    help: "folder with our packages, packed by `npm pack`, from which the service and `vocalhost image build --base` make the base",
  },
} as const satisfies Settings;

export type ContainerConfig = ReturnType<typeof readContainer>;
export type ContainerBuildsConfig = ContainerConfig["builds"];

type Environment = Record<string, string | undefined>;

/** Throws an error whose message names the setting that is wrong. */
export function readContainer(
  environment: Environment,
  { dataFolder, registries }: { dataFolder: string; registries: string[] },
) {
  const { network, networkPolicy, reach } = readSettings(containerSettings, environment);
  const builds = readSettings({ ...imageBuildSettings, ...baseImageSettings }, environment);
  return {
    kind: "container" as const,
    folder: join(dataFolder, "containers"), // not that of processes: one driver cannot end the other's instances
    sockets: engineSockets(environment, homedir()),
    ...{ network, networkPolicy, reach, registries },
    builds: {
      hasNetwork: builds.network === "open",
      memoryMib: builds.memoryMib,
      registry: toRegistry(builds),
      npmRegistry: readNpmRegistry(environment),
      imageFolders: imageFolders(builds.baseImages, environment),
      basePackages: builds.basePackages,
      ownFolder: join(dataFolder, "base-image"),
    },
  };
}

function toRegistry(
  builds: ValuesOf<typeof imageBuildSettings>,
): { repository: string; secret: PullSecret | undefined } | undefined {
  const { repository, username, passwordFile } = builds;
  if (repository === undefined) return undefined;
  const token = passwordFile === undefined ? builds.password : readFileSync(passwordFile, "utf8").trim();
  if ((username === undefined) !== (token === undefined))
    throw new Error(
      "VOCALHOST_BUILD_REGISTRY_USERNAME and VOCALHOST_BUILD_REGISTRY_PASSWORD (or …_PASSWORD_FILE) belong together",
    );
  const { registry: host } = parseImageReference(repository);
  return { repository, secret: username && token ? { host, username, token } : undefined };
}

function isRepository(text: string): boolean {
  try {
    const { registry, digest } = parseImageReference(text);
    return digest === undefined && registry !== "localhost" && !/:[^/]*$/.test(text.slice(registry.length));
  } catch {
    return false;
  }
}

/** Returns the registry that npm uses for builds; an address with a password stays with the service. */
function readNpmRegistry(environment: Environment): string | undefined {
  const registry = environment["npm_config_registry"] ?? environment["NPM_CONFIG_REGISTRY"];
  if (!registry || PUBLIC_NPM.test(registry) || !URL.canParse(registry)) return undefined;
  const { username, password } = new URL(registry);
  return username || password ? undefined : registry;
}

/** Lists the configured folder and the one in which `vocalhost image build` keeps images. */
function imageFolders(named: string | undefined, environment: Environment): string[] {
  const cache = environment["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return [...(named ? [resolve(named)] : []), join(cache, "vocalhost/images")];
}
