import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { providerSettings, readProvidersConfig } from "@vocalhost/rooms/providers/config";
import { roomSettings } from "@vocalhost/rooms/config";
import { readTurnConfig, turnSettings } from "@vocalhost/rooms/turn";
import {
  carrierNames,
  readCarrierAddresses,
  readSettings,
  type Setting,
  type Settings,
} from "@vocalhost/protocol";
import { httpUrl, IceServer, json, oneOf, wholeNumber, yesOrNo } from "@vocalhost/protocol";
import { z } from "zod";
import { ConfigError } from "@vocalhost/base/config-error";
import { failpointSettings } from "@vocalhost/base/failpoints";
import { peerSettings, readPeers } from "@vocalhost/base/peers/peer-config";
import { logSettings } from "@vocalhost/base/service-log";
import { timingSettings } from "@vocalhost/base/timing";
import {
  baseImageSettings,
  containerSettings,
  imageBuildSettings,
} from "@vocalhost/drivers/container/container-config";
import {
  driverSettings,
  kindSettings,
  readDriver,
  type DriverConfig,
} from "@vocalhost/drivers/driver-config";
import { kubernetesSettings } from "@vocalhost/drivers/kubernetes/kubernetes-config";
import { mediaSettings } from "@vocalhost/drivers/media-config";
import { userSettings } from "@vocalhost/drivers/process/users-config";
import {
  readNearestRegions,
  regionEnvironments,
  regionSettings,
  type RegionName,
} from "@vocalhost/drivers/regional/region-config";
import { buildSettings } from "../builds/config.ts";
import { objectStoreSettings, readObjectStore } from "../builds/object-store/object-store-config.ts";
import { oidcSettings, readOidc } from "../identity/oidc-settings.ts";
import { createQuotas, quotaExceptionSettings, quotaSettings } from "../identity/quotas/quotas.ts";
import { requestRateSettings, startRateSettings } from "../identity/rate-limits.ts";
import { masterKeySettings } from "../secrets/master-keys.ts";
import { pendingSettings, startSettings } from "../sessions/session-settings.ts";
import { retentionSettings } from "../upkeep/retention/retention.ts";
import { usageSettings } from "../usage/usage-settings.ts";

const serviceSettings = {
  configFile: {
    name: "VOCALHOST_CONFIG",
    help: "file with any of these settings",
  },
  port: {
    name: "VOCALHOST_PORT",
    schema: wholeNumber({ min: 0, max: 65_535 }).default(7870),
    help: "port of the gateway; `0` takes a free one",
  },
  host: {
    name: "VOCALHOST_HOST",
    schema: z.string().default("localhost"),
    help: "address of the gateway; `0.0.0.0` lets other machines in, behind TLS of your own",
  },
  publicUrl: {
    name: "VOCALHOST_PUBLIC_URL",
    schema: httpUrl("https://bots.example.com").optional(),
    preset: "`http://localhost:7870`",
    help: "address at which callers reach the gateway; goes into links and WebSocket addresses",
  },
  trustForwarded: {
    name: "VOCALHOST_TRUST_PROXY",
    schema: yesOrNo.default(false),
    help: "one proxy stands in front: trust its `x-forwarded-*`; the caller is the last address in `x-forwarded-for`",
  },
  dataFolder: {
    name: "VOCALHOST_DATA_DIR",
    preset: "`.vocalhost` if there is one here, else `$XDG_DATA_HOME/vocalhost` (`~/.local/share/vocalhost`)",
    help: "database, builds, instances, keys; back it up",
  },
  databaseUrl: {
    name: "VOCALHOST_DATABASE_URL",
    schema: z
      .string()
      .regex(/^postgres(ql)?:\/\//, "must begin with postgres://")
      .optional(),
    isSecret: true,
    help: "`postgres://…` instead of SQLite in the data folder",
  },
  secret: {
    name: "VOCALHOST_SECRET",
    isSecret: true,
    preset: "`service-secret` in the data folder",
    help: "signs tokens and cookies; at least 32 characters",
  },
  vivaEngine: {
    name: "VOCALHOST_VIVA_ENGINE",
    schema: z
      .string()
      .refine((file) => file === "none" || existsSync(file), "must be a file that exists, or none")
      .transform((file) => (file === "none" ? file : resolve(file)))
      .optional(),
    preset: "that of `@vocalhost/viva`",
    help: "module of the voice filter's engine; `none` for none. Without one audio is neither filtered nor billed",
  },
} as const satisfies Settings;

const meetingSettings = {
  controllerSocket: {
    name: "VOCALHOST_CONTROLLER_SOCKET",
    preset: "`controller.sock` in the data folder",
    help: "socket at which gateway and controller meet",
  },
  parts: {
    name: "VOCALHOST_PARTS",
    schema: oneOf(["all", "controller", "gateway"]).default("all"),
    help: "processes of this machine: `all`, `controller` or `gateway`; see [many-machines.md](many-machines.md)",
  },
  restarts: {
    name: "VOCALHOST_RESTARTS",
    schema: wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }).default(0),
    help: "set by the supervisor: how often it has restarted the process",
  },
} as const satisfies Settings;

const iceSettings = {
  iceServers: {
    name: "VOCALHOST_ICE_SERVERS",
    schema: json(z.array(IceServer), '[{"urls":["stun:stun.example.com"]}]').default([
      { urls: ["stun:stun.l.google.com:19302"] },
    ]),
    isSecret: true,
    preset: "a public STUN server",
    help: 'JSON: `[{"urls":["turn:…"],"username":"…","credential":"…"}]`',
  },
} as const satisfies Settings;

const carrierSettings: Settings = Object.fromEntries(
  carrierNames.map((name) => [
    name,
    {
      name: `${name.toUpperCase()}_API_URL`,
      preset: "the carrier's own",
      help: "address at which calls are placed; agents cannot change it",
    },
  ]),
);

/** Every setting of the service, grouped as in the documentation. */
export const settings = {
  service: serviceSettings,
  secrets: masterKeySettings,
  driver: { ...kindSettings, ...driverSettings },
  container: containerSettings,
  imageBuilds: { ...imageBuildSettings, ...baseImageSettings },
  kubernetes: kubernetesSettings,
  users: userSettings,
  builds: buildSettings,
  meeting: { ...meetingSettings, ...peerSettings },
  objectStore: objectStoreSettings,
  regions: regionSettings,
  media: { ...iceSettings, ...mediaSettings, ...turnSettings },
  log: logSettings,
  retention: retentionSettings,
  usage: usageSettings,
  oidc: oidcSettings,
  tests: { ...timingSettings, ...failpointSettings },
  callers: {
    ...startRateSettings,
    ...startSettings,
    ...pendingSettings,
    ...requestRateSettings,
    ...carrierSettings,
  },
  quotas: { ...quotaSettings, ...quotaExceptionSettings },
  roomProviders: providerSettings,
  roomServer: roomSettings,
} satisfies Record<string, Settings>;

export const allSettings: readonly Setting[] = Object.values<Settings>(settings).flatMap((rows) =>
  Object.values(rows),
);

/** The service's validated settings. */
export type Config = ReturnType<typeof read>;

export interface Region extends RegionName {
  /** If one region has its own driver, all have. */
  driver?: DriverConfig;
}

type Environment = Record<string, string | undefined>;

const LOCAL_DATA_FOLDER = ".vocalhost";
const SOCKET_PATH_MAX = 100; // the system allows 107 bytes, some systems 103

/** Returns the environment. The file that `VOCALHOST_CONFIG` names supplies variables that are not set. */
export function readEnvironment(from?: Environment): Environment {
  const { file, environment } = readSources(from);
  return { ...file, ...environment };
}

export function readSources(
  environment: Environment = process.env,
): Record<"file" | "environment", Environment> {
  const path = environment["VOCALHOST_CONFIG"];
  if (path && !existsSync(path)) throw new ConfigError(`VOCALHOST_CONFIG: there is no file ${path}`);
  return { file: path ? parseEnv(readFileSync(path, "utf8")) : {}, environment };
}

/** Throws a `ConfigError` that names the invalid settings. */
export function readConfig(environment: Environment = readEnvironment()): Config {
  try {
    return read(environment);
  } catch (error) {
    throw new ConfigError((error as Error).message, { cause: error });
  }
}

function read(environment: Environment) {
  const {
    configFile: _,
    publicUrl,
    dataFolder: folder,
    ...service
  } = readSettings(serviceSettings, environment);
  const { keptAwake, registries } = readSettings(driverSettings, environment);
  const { exceptions } = readSettings(quotaExceptionSettings, environment);
  const dataFolder = resolve(folder ?? defaultDataFolder(environment));
  const { regions, nearestRegions } = readRegions(environment, dataFolder);
  const driver = regions?.[0]?.driver ?? readDriver(environment, { dataFolder });
  if (keptAwake !== undefined && ![driver, ...driversOf(regions)].some(({ kind }) => kind === "container"))
    throw new Error("VOCALHOST_PAUSE_BEYOND needs VOCALHOST_DRIVER=container: only containers are paused");
  return {
    ...service,
    publicUrl: publicUrl ?? `http://${shownHost(service.host)}:${service.port}`,
    dataFolder,
    ...{ registries, driver, keptAwake, regions, nearestRegions },
    ...readSettings({ ...masterKeySettings, ...userSettings, ...buildSettings, ...iceSettings }, environment),
    ...readSettings(
      { ...logSettings, ...usageSettings, ...timingSettings, ...failpointSettings },
      environment,
    ),
    ...readSettings({ ...startRateSettings, ...startSettings }, environment),
    media: readSettings(mediaSettings, environment),
    retention: readSettings(retentionSettings, environment),
    pendingLimits: readSettings(pendingSettings, environment),
    requestRates: readSettings(requestRateSettings, environment),
    quotasOf: createQuotas(readSettings(quotaSettings, environment), exceptions),
    turn: readTurnConfig(environment),
    rooms: readProvidersConfig(environment),
    oidc: readOidc(environment),
    objectStore: readObjectStore(environment),
    carrierAddresses: readCarrierAddresses(environment),
    ...readMeeting(environment, dataFolder),
  };
}

/** Reads how controllers and gateways connect, and which of them run on this machine. */
function readMeeting(environment: Environment, dataFolder: string) {
  const { controllerSocket, parts, restarts } = readSettings(meetingSettings, environment);
  const peers = readPeers(environment);
  if (parts === "controller" && !peers?.listen)
    throw new Error("VOCALHOST_PARTS=controller needs VOCALHOST_CONTROLLER_LISTEN, such as 0.0.0.0:7871");
  if (parts === "gateway" && !peers)
    throw new Error("VOCALHOST_PARTS=gateway needs VOCALHOST_CONTROLLERS, such as 10.0.0.5:7871");
  return {
    ...{ peers, parts, restarts },
    controllerSocket: controllerSocket ?? (peers ? "" : socketIn(dataFolder)),
  };
}

/**
 * The folder holds keys, so the default is not the current folder, whose files are often committed. A data folder
 * that an earlier start made there stays in use.
 */
function defaultDataFolder(environment: Environment): string {
  if (existsSync(LOCAL_DATA_FOLDER)) return LOCAL_DATA_FOLDER;
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support", "vocalhost");
  return join(environment["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), "vocalhost");
}

function socketIn(dataFolder: string): string {
  const path = join(dataFolder, "controller.sock");
  if (Buffer.byteLength(path) <= SOCKET_PATH_MAX) return path;
  throw new Error(
    `The path of the data folder is too long for a socket in it (${path}). ` +
      "Choose a shorter VOCALHOST_DATA_DIR, or name the socket: VOCALHOST_CONTROLLER_SOCKET=/run/vocalhost.sock",
  );
}

/** Each region keeps its instances in its own folder. The first uses the service's, as without regions. */
function readRegions(
  environment: Environment,
  dataFolder: string,
): { regions: Region[] | undefined; nearestRegions: ReadonlyMap<string, readonly string[]> } {
  const { regions: names, nearestRegions: nearest } = readSettings(regionSettings, environment);
  const nearestRegions = readNearestRegions(nearest, names);
  const environments = regionEnvironments(environment, names);
  if (!names || !environments) return { regions: names, nearestRegions };
  const regions = names.map((name, index) => {
    const own = index === 0 ? dataFolder : join(dataFolder, "regions", name.code);
    try {
      return { ...name, driver: readDriver(environments.get(name.code) ?? {}, { dataFolder: own }) };
    } catch (error) {
      throw new Error(`Region ${name.code}: ${(error as Error).message}`, { cause: error });
    }
  });
  return { regions, nearestRegions };
}

/** Returns the drivers of the regions that have their own. */
export function driversOf(regions: readonly Region[] | undefined): DriverConfig[] {
  return (regions ?? []).flatMap(({ driver }) => driver ?? []);
}

function shownHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
