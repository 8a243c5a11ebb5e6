import { carrierNames, carriers, type CarrierName } from "@vocalhost/carriers";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";

/** The secrets that carriers and bots share, from the environment or the `.env` of the working folder. */
export type CliConfig = Record<CarrierName, { accountId: string | undefined; secret: string | undefined }>;

/** The `.env` wins, as it does for the runner: both then mean the same secret. */
export function readConfig(workingFolder: string): CliConfig {
  const environment = localEnvironment(workingFolder);
  const setting = (name = ""): string | undefined => environment[name] || undefined;
  const pairs = carrierNames.map((name) => {
    const { account, signature } = carriers[name];
    const secret = setting(signature?.secretVariable ?? signature?.variable);
    return [name, { accountId: setting(account.id), secret }];
  });
  return Object.fromEntries(pairs) as CliConfig;
}

/** Where `vocalhost dev` listens, as the runner would: flag, `.env`, environment, default. */
export function readDevAddress(
  workingFolder: string,
  flags: { host?: string | undefined; port?: number | undefined },
): { host: string; port: number } {
  const environment = localEnvironment(workingFolder);
  return {
    host: flags.host ?? (environment["VOCALHOST_HOST"] || "localhost"),
    port: flags.port ?? parsePort(environment["VOCALHOST_PORT"] || "7860"),
  };
}

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new Error(`A port is a whole number from 0 to 65535, not "${text}".`);
}

/** The environment of a child process: ours, what it is told besides, and what it gets where ours says nothing. */
export function childEnvironment(
  more: Record<string, string> = {},
  otherwise: Record<string, string | undefined> = {},
): NodeJS.ProcessEnv {
  return { ...otherwise, ...process.env, ...more };
}

/** Whether the command runs unattended, where questions cannot be answered. */
export function isUnattended(): boolean {
  return Boolean(process.env["CI"]);
}

/** The service the environment names; both win over the credentials file. */
export function readServiceVariables(): ServiceVariables {
  return {
    apiUrl: process.env["VOCALHOST_API_URL"] || undefined,
    apiKey: process.env["VOCALHOST_API_KEY"] || undefined,
    configFolder: process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"),
  };
}

/** Settings that `vocalhost doctor` checks besides the service. */
export function readReachVariables(): {
  iceServers: string | undefined;
  publicUrl: string | undefined;
  /** Variables with the address of a container engine, and whether one is needed. */
  engineVariables: Record<string, string | undefined>;
} {
  return {
    engineVariables: process.env,
    iceServers: process.env["VOCALHOST_ICE_SERVERS"] || undefined,
    publicUrl: process.env["VOCALHOST_PUBLIC_URL"] || undefined,
  };
}

/** Settings of the machine for `vocalhost image`. */
export function readImageVariables(): ImageVariables {
  const setting = (name: string): string | undefined => process.env[name] || undefined;
  const username = setting("VOCALHOST_REGISTRY_USERNAME");
  const password = setting("VOCALHOST_REGISTRY_PASSWORD");
  const dockerFolder = setting("DOCKER_CONFIG") ?? join(homedir(), ".docker");
  const runtimeFolder = setting("XDG_RUNTIME_DIR");
  return {
    cacheFolder: setting("XDG_CACHE_HOME") ?? join(homedir(), ".cache"),
    basePackages: setting("VOCALHOST_BASE_PACKAGES"),
    registryUser: username !== undefined && password !== undefined ? { username, password } : undefined,
    authFiles: [
      setting("REGISTRY_AUTH_FILE"),
      join(dockerFolder, "config.json"),
      runtimeFolder && join(runtimeFolder, "containers/auth.json"),
    ].filter((path) => path !== undefined),
  };
}

export interface ImageVariables {
  /** Where programs keep what they can make again. */
  cacheFolder: string;
  /** Folder with our packages that the base is made of, instead of npm's. */
  basePackages: string | undefined;
  registryUser: { username: string; password: string } | undefined;
  /** That `docker login` and `podman login` write, whether they are there or not. */
  authFiles: string[];
}

export interface ServiceVariables {
  apiUrl: string | undefined;
  apiKey: string | undefined;
  /** Where programs keep their settings. */
  configFolder: string;
}

function localEnvironment(workingFolder: string): Record<string, string | undefined> {
  const file = join(workingFolder, ".env");
  return { ...process.env, ...(existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {}) };
}
