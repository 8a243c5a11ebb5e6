import type { DriverConfig } from "../config.ts";
import type { Log } from "../log.ts";
import type { OpenedDriver } from "./driver.ts";
import { findEngine } from "./container/find-engine.ts";
import { isInternalRegistry } from "./image-registry.ts";
import { openProcessDriver } from "./process.ts";
import type { Wall } from "../wall/wall-rules.ts";

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
      const { folder, network, registries, reach } = config;
      const socket = await findEngine(config.sockets);
      const { openContainerDriver } = await import("./container.ts"); // with the engine's client, which most do not need
      // Also what registries send us to: nobody shall reach our own network by naming an image.
      const mayReach = ({ host }: URL): boolean => registries.includes(host) || !isInternalRegistry(host);
      return openContainerDriver({
        folder,
        network,
        log,
        socket,
        mayReach,
        wall: { mode: config.wall, reach },
      });
    }
    default:
      return config satisfies never;
  }
}

/** Around the bots of the driver the service was configured with; undefined where there can be none. */
export async function findDriverWall(config: DriverConfig): Promise<Wall | undefined> {
  if (config.kind !== "container") return undefined;
  const { openEngine } = await import("./container/engine.ts");
  const { findWall } = await import("./container/keep-wall.ts");
  const engine = await openEngine(await findEngine(config.sockets));
  await engine.ensureNetwork(config.network);
  return findWall(engine, config);
}
