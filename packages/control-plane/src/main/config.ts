import { existsSync, readFileSync } from "node:fs";
import { availableParallelism, homedir } from "node:os";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { readProvidersConfig, type ProvidersConfig } from "@vocalhost/rooms/providers/config";
import { readCarrierAddresses, type CarrierAddresses } from "@vocalhost/protocol";
import { readTurnConfig, type TurnConfig } from "@vocalhost/rooms/turn";
import { z } from "zod";
import { ConfigError } from "@vocalhost/base/config-error";
import { NETWORK_POLICY_MODES, type DriverConfig } from "@vocalhost/drivers/driver-config";
import { readContainer } from "@vocalhost/drivers/container/container-config";
import {
  readNearestRegions,
  readRegionNames,
  regionEnvironments,
  type RegionName,
} from "@vocalhost/drivers/regional/region-config";
import { readObjectStore, type ObjectStoreConfig } from "../builds/object-store/object-store-config.ts";
import { readKubernetes } from "@vocalhost/drivers/kubernetes/kubernetes-config";
import { readMedia, type MediaConfig } from "@vocalhost/drivers/media-config";
import { readPeers, type PeersConfig } from "@vocalhost/base/peers/peer-config";
import { defaultRetention, SESSION_DAYS_MIN, type Retention } from "../upkeep/retention/retention.ts";
import { BUILDERS_MAX } from "@vocalhost/drivers/process/own-users";
import { createQuotas, defaultQuotas, type Quotas, type QuotasOf } from "../identity/quotas/quotas.ts";
import { defaultPendingLimits, type PendingLimits } from "../sessions/pending-sessions.ts";
import {
  DEFAULT_STARTS_PER_MINUTE,
  defaultRequestRates,
  type RequestRates,
} from "../identity/rate-limits.ts";
import { defaultTiming, type Timing } from "@vocalhost/base/timing";
import { readUsers, type BotUsers } from "@vocalhost/drivers/process/users-config";
import { parseReach, type Reach } from "@vocalhost/drivers/network-policy/reach";

/** How the service was asked to run. Every setting is a variable; `docs/hosted/configuration.md` lists them. */
export interface Config {
  host: string;
  port: number;
  /** As callers see us, without a slash at the end. */
  publicUrl: string;
  trustForwarded: boolean;
  dataFolder: string;
  databaseUrl: string | undefined;
  /** Of all regions, or of the default one where they have drivers of their own. */
  driver: DriverConfig;
  /** The users that builds and bots are to run as; see `controller/prepare-users.ts`. */
  users: BotUsers;
  /** The first is the default; none: see `controller/find-regions.ts`. */
  regions: Region[] | undefined;
  /** After a region those nearest to it, where somebody says so. */
  nearestRegions: ReadonlyMap<string, readonly string[]>;
  iceServers: IceServers;
  /** TURN servers that callers and bots get credentials for. */
  turn: TurnConfig | undefined;
  media: MediaConfig;
  /** Whether public keys may place phone calls, at the cost of the agents' accounts. */
  takesPublicDialout: boolean;
  /** Where the carriers' REST interfaces are. */
  carrierAddresses: CarrierAddresses;
  /** Whose rooms sessions are held in. */
  rooms: ProvidersConfig;
  masterKeys: string | undefined;
  secret: string | undefined;
  metricsToken: string | undefined;
  registries: string[];
  /** Whether builds may fetch packages from Git or from any address. */
  allowsForeignPackages: boolean;
  oidc: { issuer: string; clientId: string; clientSecret: string } | undefined;
  usageExportUrl: string | undefined;
  usageExportToken: string | undefined;
  /** Module of the voice filter's engine, `none` for none. @default that of `@vocalhost/viva`, if it is installed */
  vivaEngine: string | undefined;
  logLevel: "debug" | "info" | "warn" | "error";
  retention: Retention;
  /** So many waiting instances of an agent go on running, those beyond are paused; undefined: all go on. */
  keptAwake: number | undefined;
  queueMs: number;
  pendingLimits: PendingLimits;
  quotasOf: QuotasOf;
  buildsAtOnce: number;
  requestRates: RequestRates;
  /** Of a public key that was given no rate of its own. */
  startsPerMinute: number;
  timing: Timing;
  /** Names the moment at which the controller is to die, for tests. */
  failpointFile: string | undefined;
  /** Set by the supervisor: how often it has started this process again. */
  restarts: number;
  /** Said by whoever started us, so that tests find it in the process list. */
  controllerSocket: string;
  /** Where uploads and builds are kept besides the data folder. */
  objectStore: ObjectStoreConfig | undefined;
  /** How controllers and gateways of several machines meet; undefined: by that socket. */
  peers: PeersConfig | undefined;
  /** What this machine runs. */
  parts: Parts;
}

export type Parts = (typeof PARTS)[number];
const PARTS = ["all", "controller", "gateway"] as const;

export interface Region extends RegionName {
  /** Where regions have drivers of their own: all of them. */
  driver?: DriverConfig;
}

const DRIVERS = ["process", "container", "kubernetes"] as const satisfies DriverConfig["kind"][];

const IceServers = z.array(
  z.object({
    urls: z.union([z.string(), z.array(z.string())]),
    username: z.string().optional(),
    credential: z.string().optional(),
  }),
);
type IceServers = z.infer<typeof IceServers>;

const QUOTA_MAX = 1_000_000_000;
const Quota = z.number().int().min(0).max(QUOTA_MAX);
const QuotaExceptions = z.record(
  z.string(),
  z
    .strictObject({ agents: Quota, instances: Quota, builds: Quota, diskMib: Quota, startsPerSecond: Quota })
    .partial(),
);

type Environment = Record<string, string | undefined>;

const DEFAULT_PORT = "7870";
const LOCAL_DATA_FOLDER = ".vocalhost";
const SOCKET_PATH_MAX = 100; // the system allows 107 bytes, on some systems 103

/** The environment, and under it the file that `VOCALHOST_CONFIG` names. */
export function readEnvironment(environment: Environment = process.env): Environment {
  const file = environment["VOCALHOST_CONFIG"];
  if (!file) return environment;
  if (!existsSync(file)) throw new ConfigError(`VOCALHOST_CONFIG: there is no file ${file}`);
  return { ...parseEnv(readFileSync(file, "utf8")), ...environment };
}

export function readConfig(environment: Environment = readEnvironment()): Config {
  const text = (name: string): string | undefined => environment[`VOCALHOST_${name}`] || undefined;
  const host = text("HOST") ?? "localhost";
  const port = wholeNumber("PORT", text("PORT") ?? DEFAULT_PORT, { min: 0, max: 65_535 });
  const users = asConfigError(() => readUsers(text("BOT_UIDS")));
  const dataFolder = resolve(text("DATA_DIR") ?? defaultDataFolder(environment));
  const regions = readRegions(text("REGIONS"), { dataFolder, environment });
  const driver = regions?.[0]?.driver ?? readDriver(text("DRIVER"), { dataFolder, environment });
  return {
    host,
    port,
    publicUrl: readUrl("PUBLIC_URL", text("PUBLIC_URL")) ?? `http://${shownHost(host)}:${port}`,
    trustForwarded: readFlag("TRUST_PROXY", text("TRUST_PROXY")),
    dataFolder,
    databaseUrl: readDatabaseUrl(text("DATABASE_URL")),
    driver,
    users,
    regions,
    nearestRegions: asConfigError(() => readNearestRegions(text("NEAREST_REGIONS"), regions)),
    iceServers: readIceServers(text("ICE_SERVERS")),
    turn: asConfigError(() => readTurnConfig(environment)),
    media: asConfigError(() => readMedia(text)),
    takesPublicDialout: readFlag("PUBLIC_DIALOUT", text("PUBLIC_DIALOUT")),
    carrierAddresses: readCarrierAddresses(environment),
    rooms: asConfigError(() => readProvidersConfig(environment)),
    masterKeys: text("MASTER_KEYS"),
    secret: text("SECRET"),
    metricsToken: text("METRICS_TOKEN"),
    registries: list(text("REGISTRIES")),
    allowsForeignPackages: readFlag("FOREIGN_PACKAGES", text("FOREIGN_PACKAGES")),
    oidc: readOidc(text),
    usageExportUrl: readUrl("USAGE_EXPORT_URL", text("USAGE_EXPORT_URL")),
    usageExportToken: text("USAGE_EXPORT_TOKEN"),
    vivaEngine: readEngine(text("VIVA_ENGINE")),
    logLevel: oneOf("LOG_LEVEL", text("LOG_LEVEL") ?? "info", ["debug", "info", "warn", "error"]),
    retention: readRetention(text),
    queueMs: wholeNumber("QUEUE_MS", text("QUEUE_MS") ?? "0", { min: 0, max: 60_000 }),
    keptAwake: readKeptAwake(text("PAUSE_BEYOND"), [driver, ...driversOf(regions)]),
    pendingLimits: readPendingLimits(text),
    quotasOf: readQuotas(text),
    buildsAtOnce: readBuildsAtOnce(text("BUILDS_AT_ONCE")),
    requestRates: readRequestRates(text),
    startsPerMinute: wholeNumber(
      "STARTS_PER_MINUTE",
      text("STARTS_PER_MINUTE") ?? String(DEFAULT_STARTS_PER_MINUTE),
      { min: 1, max: 1_000_000 },
    ),
    timing: readTiming(text("TIMING")),
    failpointFile: text("FAILPOINT_FILE"),
    restarts: wholeNumber("RESTARTS", text("RESTARTS") ?? "0", { min: 0, max: Number.MAX_SAFE_INTEGER }),
    objectStore: asConfigError(() => readObjectStore(text)),
    ...readMeeting(text, dataFolder),
  };
}

/** Where controller and gateway meet, and which of them are here. */
function readMeeting(
  text: (name: string) => string | undefined,
  dataFolder: string,
): Pick<Config, "controllerSocket" | "peers" | "parts"> {
  const peers = asConfigError(() => readPeers(text));
  const parts = oneOf("PARTS", text("PARTS") ?? "all", PARTS);
  if (parts === "controller" && !peers?.listen)
    throw new ConfigError(
      "VOCALHOST_PARTS=controller needs VOCALHOST_CONTROLLER_LISTEN, such as 0.0.0.0:7871",
    );
  if (parts === "gateway" && !peers)
    throw new ConfigError("VOCALHOST_PARTS=gateway needs VOCALHOST_CONTROLLERS, such as 10.0.0.5:7871");
  return { controllerSocket: text("CONTROLLER_SOCKET") ?? (peers ? "" : socketIn(dataFolder)), peers, parts };
}

/**
 * Keys are kept here: not in the folder somebody happens to be in, which is often one whose files are committed. A folder
 * that an earlier start has made there goes on being used.
 */
function defaultDataFolder(environment: Environment): string {
  if (existsSync(LOCAL_DATA_FOLDER)) return LOCAL_DATA_FOLDER;
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support", "vocalhost");
  return join(environment["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), "vocalhost");
}

function socketIn(dataFolder: string): string {
  const path = join(dataFolder, "controller.sock");
  if (Buffer.byteLength(path) <= SOCKET_PATH_MAX) return path;
  throw new ConfigError(
    `The path of the data folder is too long for a socket in it (${path}). ` +
      "Choose a shorter VOCALHOST_DATA_DIR, or name the socket: VOCALHOST_CONTROLLER_SOCKET=/run/vocalhost.sock",
  );
}

function wholeNumber(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max && text.trim() !== "") return value;
  throw new ConfigError(`VOCALHOST_${name} must be a whole number from ${min} to ${max}, got "${text}"`);
}

function readUrl(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, "");
  throw new ConfigError(
    `VOCALHOST_${name} must be an address such as https://bots.example.com, got "${text}"`,
  );
}

function readEngine(text: string | undefined): string | undefined {
  if (text === undefined || text === "none") return text;
  if (existsSync(text)) return resolve(text);
  throw new ConfigError(`VOCALHOST_VIVA_ENGINE: there is no file ${text}`);
}

// The address may hold a password, so the message does not show it.
function readDatabaseUrl(text: string | undefined): string | undefined {
  if (text === undefined || /^postgres(ql)?:\/\//.test(text)) return text;
  throw new ConfigError("VOCALHOST_DATABASE_URL must begin with postgres://");
}

function readDriver(
  text: string | undefined,
  options: { dataFolder: string; environment: Environment },
): DriverConfig {
  const { dataFolder, environment } = options;
  const kind = oneOf("DRIVER", text ?? "process", DRIVERS);
  switch (kind) {
    case "process":
      return {
        kind,
        folder: join(dataFolder, "instances"),
        compileCache: readCompileCache(environment["VOCALHOST_COMPILE_CACHE"]),
      };
    case "container":
      return {
        ...asConfigError(() =>
          readContainer(environment, { dataFolder, registries: list(environment["VOCALHOST_REGISTRIES"]) }),
        ),
        networkPolicy: oneOf(
          "CONTAINER_NETWORK_POLICY",
          environment["VOCALHOST_CONTAINER_NETWORK_POLICY"] || "auto",
          NETWORK_POLICY_MODES,
        ),
        reach: readReach(environment["VOCALHOST_CONTAINER_REACH"]),
      };
    case "kubernetes":
      return asConfigError(() =>
        readKubernetes(environment, { dataFolder, registries: list(environment["VOCALHOST_REGISTRIES"]) }),
      );
    default:
      return kind satisfies never;
  }
}

function readCompileCache(text: string | undefined): string | undefined {
  return text ? resolve(text) : undefined;
}

function readKeptAwake(text: string | undefined, drivers: DriverConfig[]): number | undefined {
  if (text === undefined) return undefined;
  if (!drivers.some(({ kind }) => kind === "container"))
    throw new ConfigError(
      "VOCALHOST_PAUSE_BEYOND needs VOCALHOST_DRIVER=container: only containers are paused",
    );
  return wholeNumber("PAUSE_BEYOND", text, { min: 0, max: 1_000_000 });
}

function readReach(text: string | undefined): Reach[] {
  return list(text).map((part) => {
    try {
      return parseReach(part);
    } catch (error) {
      throw new ConfigError(`VOCALHOST_CONTAINER_REACH: ${(error as Error).message}`, { cause: error });
    }
  });
}

function readFlag(name: string, text: string | undefined): boolean {
  return oneOf(name, text ?? "false", ["true", "false", "1", "0"]).match(/^(?:true|1)$/) !== null;
}

function oneOf<T extends string>(name: string, text: string, values: readonly T[]): T {
  const value = values.find((each) => each === text);
  if (value) return value;
  throw new ConfigError(`VOCALHOST_${name} must be one of ${values.join(", ")}, got "${text}"`);
}

/** Each of them keeps its instances in a folder of its own; that of the first is the service's, as without regions. */
function readRegions(
  text: string | undefined,
  options: { dataFolder: string; environment: Environment },
): Region[] | undefined {
  const names = asConfigError(() => readRegionNames(text));
  const environments = asConfigError(() => regionEnvironments(options.environment, names));
  if (!names || !environments) return names;
  return names.map((name, index) => {
    const environment = environments.get(name.code) ?? {};
    const dataFolder = index === 0 ? options.dataFolder : join(options.dataFolder, "regions", name.code);
    try {
      const driver = readDriver(environment["VOCALHOST_DRIVER"] || undefined, { dataFolder, environment });
      return { ...name, driver };
    } catch (error) {
      throw new ConfigError(`Region ${name.code}: ${(error as Error).message}`, { cause: error });
    }
  });
}

/** Those that regions have of their own. */
export function driversOf(regions: readonly Region[] | undefined): DriverConfig[] {
  return (regions ?? []).flatMap(({ driver }) => driver ?? []);
}

function readIceServers(text: string | undefined): IceServers {
  if (text === undefined) return [{ urls: ["stun:stun.l.google.com:19302"] }];
  const servers = IceServers.safeParse(parseJson("ICE_SERVERS", text));
  if (servers.success) return servers.data;
  throw new ConfigError('VOCALHOST_ICE_SERVERS must be JSON such as [{"urls":["stun:stun.example.com"]}]');
}

function asConfigError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function readTiming(text: string | undefined): Timing {
  if (text === undefined) return defaultTiming;
  const wanted = z
    .record(z.string(), z.union([z.number(), z.array(z.number())]))
    .safeParse(parseJson("TIMING", text)).data;
  if (!wanted) throw new ConfigError('VOCALHOST_TIMING must be JSON such as {"heartbeatMs":5000}');
  for (const name of Object.keys(wanted))
    if (!Object.hasOwn(defaultTiming, name))
      throw new ConfigError(`VOCALHOST_TIMING: "${name}" is no duration of ours`);
  return { ...defaultTiming, ...wanted };
}

function readRetention(text: (name: string) => string | undefined): Retention {
  const days = (name: string, preset: number, min = 1): number =>
    wholeNumber(name, text(name) ?? String(preset), { min, max: 36_500 });
  return {
    logDays: days("LOG_RETENTION_DAYS", defaultRetention.logDays),
    sessionDays: days("SESSION_RETENTION_DAYS", defaultRetention.sessionDays, SESSION_DAYS_MIN),
    debrisDays: days("DEBRIS_RETENTION_DAYS", defaultRetention.debrisDays),
    auditDays: days("AUDIT_RETENTION_DAYS", defaultRetention.auditDays),
    deploymentsPerAgent: days("DEPLOYMENTS_KEPT", defaultRetention.deploymentsPerAgent),
  };
}

function readPendingLimits(text: (name: string) => string | undefined): PendingLimits {
  const limit = (name: string, preset: number): number =>
    wholeNumber(name, text(name) ?? String(preset), { min: 1, max: 1_000_000 });
  return {
    perKey: limit("PENDING_PER_KEY", defaultPendingLimits.perKey),
    perAgent: limit("PENDING_PER_AGENT", defaultPendingLimits.perAgent),
  };
}

function readQuotas(text: (name: string) => string | undefined): QuotasOf {
  const quota = (name: string, preset: number): number =>
    wholeNumber(name, text(name) ?? String(preset), { min: 0, max: QUOTA_MAX });
  const defaults: Quotas = {
    agents: quota("QUOTA_AGENTS", defaultQuotas.agents),
    instances: quota("QUOTA_INSTANCES", defaultQuotas.instances),
    builds: quota("QUOTA_BUILDS", defaultQuotas.builds),
    diskMib: quota("QUOTA_DISK_MIB", defaultQuotas.diskMib),
    startsPerSecond: quota("QUOTA_STARTS_PER_SECOND", defaultQuotas.startsPerSecond),
  };
  const exceptions = text("QUOTAS");
  if (exceptions === undefined) return createQuotas(defaults);
  const parsed = QuotaExceptions.safeParse(parseJson("QUOTAS", exceptions));
  if (parsed.success) return createQuotas(defaults, parsed.data);
  throw new ConfigError(
    `VOCALHOST_QUOTAS must be JSON such as {"acme":{"agents":5,"instances":20}}, with ${Object.keys(defaults).join(", ")}`,
  );
}

/** So many that calls still have cores for themselves. */
function readBuildsAtOnce(text: string | undefined): number {
  const preset = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));
  return wholeNumber("BUILDS_AT_ONCE", text ?? String(preset), { min: 1, max: BUILDERS_MAX });
}

function readRequestRates(text: (name: string) => string | undefined): RequestRates {
  const rate = (name: string, preset: number): number =>
    wholeNumber(name, text(name) ?? String(preset), { min: 1, max: 1_000_000 });
  return {
    reads: rate("READS_PER_MINUTE", defaultRequestRates.reads),
    changes: rate("CHANGES_PER_MINUTE", defaultRequestRates.changes),
  };
}

function readOidc(text: (name: string) => string | undefined): Config["oidc"] {
  const issuer = readUrl("OIDC_ISSUER", text("OIDC_ISSUER"));
  const clientId = text("OIDC_CLIENT_ID");
  const clientSecret = text("OIDC_CLIENT_SECRET");
  if (!issuer && !clientId && !clientSecret) return undefined;
  if (issuer && clientId && clientSecret) return { issuer, clientId, clientSecret };
  throw new ConfigError(
    "Single sign-on needs all of VOCALHOST_OIDC_ISSUER, VOCALHOST_OIDC_CLIENT_ID, VOCALHOST_OIDC_CLIENT_SECRET",
  );
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ConfigError(`VOCALHOST_${name} is not JSON`, { cause });
  }
}

function list(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

function shownHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
