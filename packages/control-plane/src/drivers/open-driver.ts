import type { DriverConfig } from "../config.ts";
import { parseImageReference } from "@vocalhost/images";
import type { Log } from "../log.ts";
import { BASE_VERSION, VERSION } from "../version.ts";
import type { OpenedDriver } from "./driver.ts";
import { findEngine } from "./container/find-engine.ts";
import { openContainerDriver } from "./container.ts";
import { isInternalRegistry } from "./image-registry.ts";
import { openProcessDriver } from "./process.ts";

/** The driver the service was configured with. */
export async function openDriver(
  config: DriverConfig,
  options: { log: Log; builderEnvironment: NodeJS.ProcessEnv },
): Promise<OpenedDriver> {
  const { log } = options;
  const opened = await open(config, options);
  log.info({ driver: config.kind, ...opened.driver.capabilities }, "driver opened");
  return opened;
}

async function open(
  config: DriverConfig,
  { log, builderEnvironment }: { log: Log; builderEnvironment: NodeJS.ProcessEnv },
): Promise<OpenedDriver> {
  switch (config.kind) {
    case "process":
      return openProcessDriver({ folder: config.folder, users: config.users, log });
    case "container": {
      const { folder, network, registries } = config;
      const { registry } = config.builds;
      const pushedTo = registry && parseImageReference(registry.repository).registry;
      const socket = await findEngine(config.sockets);
      // Also what registries send us to: nobody shall reach our own network by naming an image.
      const mayReach = ({ host }: URL): boolean =>
        registries.includes(host) || host === pushedTo || !isInternalRegistry(host);
      const builds = {
        ...config.builds,
        registries,
        baseVersion: BASE_VERSION,
        productVersion: VERSION,
        environment: builderEnvironment,
      };
      return openContainerDriver({ folder, network, log, socket, mayReach, builds });
    }
    default:
      return config satisfies never;
  }
}
