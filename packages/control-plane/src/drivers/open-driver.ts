import type { DriverConfig } from "../config.ts";
import type { Log } from "../log.ts";
import type { OpenedDriver } from "./driver.ts";
import { findEngine } from "./container/find-engine.ts";
import { isInternalRegistry } from "./image-registry.ts";
import { openProcessDriver } from "./process.ts";

/** The driver the service was configured with. */
export async function openDriver(config: DriverConfig, { log }: { log: Log }): Promise<OpenedDriver> {
  const opened = await open(config, { log });
  log.info({ driver: config.kind, ...opened.driver.capabilities }, "driver opened");
  return opened;
}

async function open(config: DriverConfig, { log }: { log: Log }): Promise<OpenedDriver> {
  switch (config.kind) {
    case "process":
      return openProcessDriver({ ...config, log });
    case "container": {
      const { folder, network, registries } = config;
      const socket = await findEngine(config.sockets);
      const { openContainerDriver } = await import("./container.ts"); // with the engine's client, which most do not need
      // Also what registries send us to: nobody shall reach our own network by naming an image.
      const mayReach = ({ host }: URL): boolean => registries.includes(host) || !isInternalRegistry(host);
      return openContainerDriver({ folder, network, log, socket, mayReach });
    }
    default:
      return config satisfies never;
  }
}
