import { randomUUID } from "node:crypto";
import { refuseUnfinishedRestore } from "../../upkeep/backup/restore-backup.ts";
import { createBuildFolders, type BuildFolders } from "../../builds/build-folders.ts";
import { builderEnvironment } from "../../builds/config.ts";
import type { Clock } from "@vocalhost/base/clock";
import type { Config } from "../config.ts";
import type { ObjectStore } from "../../builds/object-store/object-store.ts";
import { openS3ObjectStore } from "../../builds/object-store/s3-object-store.ts";
import { newestEpochOf } from "./fence-driver.ts";
import type { OpenedDriver } from "@vocalhost/drivers/driver";
import type { ImageBuilder } from "@vocalhost/drivers/image-builder";
import { openDrivers } from "@vocalhost/drivers/open-driver";
import { createFailpoint, type Failpoint } from "@vocalhost/base/failpoints";
import { storeOfLeader } from "@vocalhost/store/leadership/leader";
import type { Log } from "@vocalhost/base/log";
import { createMetrics, type Metrics } from "../../usage/metrics/metrics.ts";
import { neededMasterKeys, requireKnownMasterKeys } from "../../secrets/rewrap.ts";
import { claimDataFolder, refuseMissingStore, type StoreIdentity } from "@vocalhost/store/identity";
import { openStore } from "@vocalhost/store/open-store";
import { guardDisk } from "@vocalhost/store/guard-disk";
import type { Store } from "@vocalhost/store/store";
import { systemClock } from "@vocalhost/base/system-clock";
import { VERSION } from "@vocalhost/base/version";
import { findSdk } from "./find-sdk.ts";
import { openLease, type Lease } from "./lead.ts";
import { prepareUsers, type PreparedUsers } from "./prepare-users.ts";
import { masterKeyFile, openServiceSecrets, type ServiceSecrets } from "./service-secrets.ts";
import { createLeaderState, type LeaderState } from "./leader-state.ts";
import { createRequire } from "node:module";

/** What a controller works with, whether it leads or not. */
export interface BaseServices {
  config: Config;
  log: Log;
  clock: Clock;
  failpoint: Failpoint;
  newId(): string;
  secrets: ServiceSecrets;
  /** Checks with every write that we still lead. */
  store: Store;
  /** Which store that is; data folder and bucket carry its id. */
  identity: StoreIdentity;
  /** The same without the check, for what does that itself. */
  uncheckedStore: Store;
  driver: OpenedDriver["driver"];
  records: OpenedDriver["records"];
  /** Makes images for a region whose instances are made of them. */
  imagesIn(region: string): ImageBuilder | undefined;
  lease: Lease;
  leaderState: LeaderState;
  metrics: Metrics;
  objectStore: ObjectStore | undefined;
  buildFolders: BuildFolders;
  /** Who builds, and bots that are processes, run as. */
  users: PreparedUsers;
  /** Module of the voice filter's engine, where there is one. */
  vivaEngine: string | undefined;
}

/** Nothing that is tried again helps: the process ends with the sentence. */
function endProcess(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}

/** Opens the store and the driver; decides and changes nothing. */
export async function openBaseServices(
  config: Config,
  { log, stack }: { log: Log; stack: AsyncDisposableStack },
): Promise<BaseServices> {
  const clock = systemClock;
  const { timing, dataFolder, databaseUrl } = config;
  refuseUnfinishedRestore(dataFolder);
  await refuseMissingStore(config);
  const opened = stack.use(await openStore({ databaseUrl, dataFolder, log, damaged: endProcess }));
  const identity = await claimDataFolder(opened, config); // before anything else is written beside what is there
  const secrets = await openServiceSecrets(config, await neededMasterKeys(opened));
  if (secrets.isNewMasterKey)
    log.info(
      { file: masterKeyFile(dataFolder) },
      "made a master key; keep a copy, without it stored secrets cannot be read",
    );
  const keysIn = config.masterKeys === undefined ? masterKeyFile(dataFolder) : undefined;
  await requireKnownMasterKeys(opened, secrets.masterKeys, keysIn);
  const vivaEngine = findEngine(config);
  const users = prepareUsers(config, { log, vivaEngine });
  const drivers = stack.use(
    await openDrivers(config, { log, users: users.range, builderEnvironment: builderEnvironment() }),
  );
  const { driver, records } = drivers;
  const uncheckedStore = guardDisk(opened, { makeSpace: () => records.makeSpace(), log });
  const objectStore = config.objectStore && stack.use(await openS3ObjectStore(config.objectStore));
  const leaderState = createLeaderState();
  return {
    config,
    log,
    clock,
    failpoint: createFailpoint(config.failpointFile),
    newId: () => randomUUID(),
    secrets,
    store: storeOfLeader({
      store: uncheckedStore,
      get epoch() {
        return leaderState.epoch;
      },
    }),
    identity,
    uncheckedStore,
    driver,
    records,
    imagesIn: drivers.imagesIn ?? (() => drivers.images),
    lease: openLease({
      ...{ store: uncheckedStore, clock, timing, log, dataFolder },
      newestEpoch: () => newestEpochOf(driver, log),
    }),
    leaderState,
    metrics: createMetrics({ store: uncheckedStore, dataFolder, version: VERSION }),
    objectStore,
    buildFolders: createBuildFolders({
      dataFolder,
      objectStore,
      sdkFolder: findSdk(),
      hasUsers: !!users.range,
    }),
    users,
    vivaEngine,
  };
}

/** Module of the voice filter's engine: the one that is configured, else the one installed with the service. */
function findEngine({ vivaEngine }: Pick<Config, "vivaEngine">): string | undefined {
  if (vivaEngine !== undefined) return vivaEngine === "none" ? undefined : vivaEngine;
  try {
    return createRequire(import.meta.url).resolve("@vocalhost/viva");
  } catch {
    return undefined;
  }
}
