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

/** The services of every controller, leader or standby. */
export interface BaseServices {
  config: Config;
  log: Log;
  clock: Clock;
  failpoint: Failpoint;
  newId(): string;
  secrets: ServiceSecrets;
  /** Checks on every write that this controller still leads. */
  store: Store;
  /** The id of the store, which the data folder and the bucket carry too. */
  identity: StoreIdentity;
  /** The same store without the check, for callers that check themselves. */
  uncheckedStore: Store;
  driver: OpenedDriver["driver"];
  records: OpenedDriver["records"];
  /** Returns the builder of images for a region whose instances run from images. */
  imagesIn(region: string): ImageBuilder | undefined;
  lease: Lease;
  leaderState: LeaderState;
  metrics: Metrics;
  objectStore: ObjectStore | undefined;
  buildFolders: BuildFolders;
  /** The users of builds, and of bots that are processes. */
  users: PreparedUsers;
  /** Module of the voice filter's engine, if installed. */
  vivaEngine: string | undefined;
}

/** Exits with the error's message, because no retry can help. */
function endProcess(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}

/** Opens the store and the driver. It decides nothing and changes nothing. */
export async function openBaseServices(
  config: Config,
  { log, stack }: { log: Log; stack: AsyncDisposableStack },
): Promise<BaseServices> {
  const clock = systemClock;
  const { timing, dataFolder, databaseUrl } = config;
  refuseUnfinishedRestore(dataFolder);
  await refuseMissingStore(config);
  const opened = stack.use(await openStore({ databaseUrl, dataFolder, log, damaged: endProcess }));
  const identity = await claimDataFolder(opened, config); // before any other file is written to the folder
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

/** Returns the module of the voice filter's engine: the configured one, else the installed one. */
function findEngine({ vivaEngine }: Pick<Config, "vivaEngine">): string | undefined {
  if (vivaEngine !== undefined) return vivaEngine === "none" ? undefined : vivaEngine;
  try {
    return createRequire(import.meta.url).resolve("@vocalhost/viva");
  } catch {
    return undefined;
  }
}
