import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { refuseUnfinishedRestore } from "../backup/restore-backup.ts";
import { builderEnvironment } from "../builds/config.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { OpenedDriver } from "../drivers/driver.ts";
import type { ImageBuilder } from "../drivers/image-builder.ts";
import { openDrivers } from "../drivers/open-driver.ts";
import { createFailpoint, type Failpoint } from "../failpoints.ts";
import { storeOfLeader } from "../leader/leader.ts";
import type { Log } from "../log.ts";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import { requireKnownMasterKeys } from "../secrets/rewrap.ts";
import { openStore } from "../store/open-store.ts";
import { withRoom } from "../store/make-room.ts";
import type { Store } from "../store/store.ts";
import { systemClock } from "../system-clock.ts";
import { VERSION } from "../version.ts";
import { findEngine } from "./find-engine.ts";
import { becomeLeader, type Leadership } from "./lead.ts";
import { prepareUsers } from "./prepare-users.ts";
import { openServiceSecrets, type ServiceSecrets } from "./service-secrets.ts";

/** What the controller that leads works with. */
export interface Ground {
  config: Config;
  log: Log;
  clock: Clock;
  failpoint: Failpoint;
  newId(): string;
  secrets: ServiceSecrets;
  /** Checks with every write that we still lead. */
  store: Store;
  /** The same without the check, for what does that itself. */
  uncheckedStore: Store;
  driver: OpenedDriver["driver"];
  records: OpenedDriver["records"];
  /** Makes images for a region whose instances are made of them. */
  imagesIn(region: string): ImageBuilder | undefined;
  leadership: Leadership;
  metrics: Metrics;
  /** Module of the voice filter's engine, where there is one. */
  vivaEngine: string | undefined;
}

/** Opens the store and the driver, waits until nobody else leads, and fences off the previous leader. */
export async function takeOver(
  config: Config,
  { log, stack }: { log: Log; stack: AsyncDisposableStack },
): Promise<Ground> {
  const clock = systemClock;
  const { timing, dataFolder, databaseUrl } = config;
  refuseUnfinishedRestore(dataFolder);
  const secrets = await openServiceSecrets(config);
  if (secrets.isNewMasterKey)
    log.info(
      { file: join(dataFolder, "master-keys") },
      "made a master key; keep a copy, without it stored secrets cannot be read",
    );
  const opened = stack.use(await openStore({ databaseUrl, dataFolder, log }));
  await requireKnownMasterKeys(opened, secrets.masterKeys);
  prepareUsers(config, log);
  const drivers = stack.use(await openDrivers(config, { log, builderEnvironment: builderEnvironment() }));
  const { driver, records } = drivers;
  const uncheckedStore = withRoom(opened, () => records.makeSpace());
  const leadership = await becomeLeader({
    store: uncheckedStore,
    clock,
    timing,
    log,
    newestEpoch: () => driver.newestEpoch(),
    dataFolder,
  });
  await driver.fence(leadership.epoch);
  return {
    config,
    log,
    clock,
    failpoint: createFailpoint(config.failpointFile),
    newId: () => randomUUID(),
    secrets,
    store: storeOfLeader({ store: uncheckedStore, epoch: leadership.epoch }),
    uncheckedStore,
    driver,
    records,
    imagesIn: drivers.imagesIn ?? (() => drivers.images),
    leadership,
    metrics: createMetrics({ store: uncheckedStore, dataFolder, version: VERSION }),
    vivaEngine: findEngine(config),
  };
}
