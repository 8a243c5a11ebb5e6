import type { DriverConfig } from "./driver-config.ts";
import { parseImageReference } from "@vocalhost/images";
import type { Log } from "@vocalhost/base/log";
import { BASE_VERSION, VERSION } from "@vocalhost/base/version";
import type { OpenedDriver } from "./driver.ts";
import { findEngine } from "./container/find-engine.ts";
import { registryReach } from "./image-registry.ts";
import type { UserRange } from "./process/own-users.ts";
import { openProcessDriver } from "./process.ts";
import type { NetworkPolicy } from "./network-policy/rules.ts";

export interface OpenDriverOptions {
  log: Log;
  builderEnvironment: NodeJS.ProcessEnv;
  /** Instances that are processes run as these. @default the service's own user */
  users?: UserRange | undefined;
  /** Folders of the processes of all regions. */
  folders?: readonly string[];
}

export interface DriversConfig {
  /** The driver of all regions, or of the default one where they have drivers of their own. */
  driver: DriverConfig;
  regions: readonly { code: string; driver?: DriverConfig }[] | undefined;
}

/** Opens the configured driver, or one that stands for those of all regions. */
export async function openDrivers(
  { driver, regions = [] }: DriversConfig,
  options: OpenDriverOptions,
): Promise<OpenedDriver> {
  const own = regions.flatMap(({ code, driver: config }) => (config ? [{ code, config }] : []));
  if (own.length === 0) return openDriver(driver, options);
  const folders = own.flatMap(({ config }) => (config.kind === "process" ? [config.folder] : []));
  const { openRegionalDriver } = await import("./regional.ts");
  return openRegionalDriver({
    log: options.log,
    regions: own.map(({ code, config }) => ({
      code,
      runs: config.kind === "process" ? ["build"] : ["image"],
      open: () => openDriver(config, { ...options, folders, log: options.log.child({ region: code }) }),
    })),
  });
}

async function openDriver(config: DriverConfig, options: OpenDriverOptions): Promise<OpenedDriver> {
  const { log } = options;
  const opened = await open(config, options);
  log.info({ driver: config.kind, ...opened.driver.capabilities }, "driver opened");
  return opened;
}

async function open(
  config: DriverConfig,
  { log, builderEnvironment, users, folders = [] }: OpenDriverOptions,
): Promise<OpenedDriver> {
  switch (config.kind) {
    case "process":
      return openProcessDriver({
        ...config,
        users,
        usersAlsoIn: folders.filter((folder) => folder !== config.folder),
        log,
      });
    case "container": {
      const { folder, network, registries, reach } = config;
      const { registry } = config.builds;
      const pushedTo = registry && parseImageReference(registry.repository).registry;
      const socket = await findEngine(config.sockets);
      const { openContainerDriver } = await import("./container.ts"); // with the engine's client, which most do not need
      // Also checked for redirects: the name of an image must not lead into the service's own network.
      const mayReach = registryReach([...registries, ...(pushedTo === undefined ? [] : [pushedTo])]);
      const builds = {
        ...config.builds,
        registries,
        baseVersion: BASE_VERSION,
        productVersion: VERSION,
        environment: builderEnvironment,
      };
      const networkPolicy = { mode: config.networkPolicy, reach };
      return openContainerDriver({ folder, network, log, socket, mayReach, networkPolicy, builds });
    }
    case "kubernetes": {
      const { folder, service, platform, readyEndpoint, registries } = config;
      const { kubeconfig, context, namespace } = config;
      const { nodeSelector, runtimeClass, priorityClass, pullSecrets } = config;
      const { openKubernetesDriver } = await import("./kubernetes.ts"); // with the cluster's client, likewise
      const mayReach = registryReach(registries);
      return openKubernetesDriver({
        ...{ folder, service, platform, readyEndpoint, log, mayReach },
        cluster: { kubeconfig, context, namespace },
        pods: { nodeSelector, runtimeClass, priorityClass, pullSecrets },
      });
    }
    default:
      return config satisfies never;
  }
}

/** Returns the network policy for the bots of a driver; undefined where there can be none. */
export async function findDriverNetworkPolicy(config: DriverConfig): Promise<NetworkPolicy | undefined> {
  if (config.kind !== "container") return undefined;
  const { openEngine } = await import("./container/engine.ts");
  const { findNetworkPolicy } = await import("./container/keep-network-policy.ts");
  const engine = await openEngine(await findEngine(config.sockets));
  await engine.ensureNetwork(config.network);
  return findNetworkPolicy(engine, config);
}
