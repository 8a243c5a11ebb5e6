import { relinkSdk } from "../../builds/link-sdk.ts";
import type { Clock } from "@vocalhost/base/clock";
import { LeadershipLostError } from "@vocalhost/store/leadership/leader";
import type { Log } from "@vocalhost/base/log";
import type { People } from "../../identity/people.ts";
import { measureDataFolder } from "../../usage/metrics/data-folder.ts";
import { noteSealingKey } from "../../secrets/rotate-master-key.ts";
import { provisionSecrets } from "../../secrets/provision.ts";
import { createRoomCloser } from "../../sessions/session-rooms.ts";
import { startBackgroundWork } from "./background-work.ts";
import type { App } from "./create-app.ts";
import type { LeaderCore } from "./leader-core.ts";
import { fenceDriver } from "./fence-driver.ts";
import { findSdk } from "./find-sdk.ts";
import { firstRun } from "./first-run.ts";
import type { FirstRun } from "./first-run-file.ts";
import type { Leadership } from "./lead.ts";
import type { BaseServices } from "./base-services.ts";
import { markSecret } from "./require-same-secret.ts";

export interface LeadingOptions {
  base: BaseServices;
  leaderCore: LeaderCore;
  app: App;
  /** Whether another controller may be waiting to lead. */
  isOneOfSeveral: boolean;
  /** Owns the leader's background work. */
  stack: AsyncDisposableStack;
  signal: AbortSignal;
  /** Called when another controller has become the leader. */
  lost(): void;
}

/** Fences off the previous leader, adopts its instances and sessions, and makes the decisions from then on. */
export async function startLeading(
  leadership: Leadership,
  options: LeadingOptions,
): Promise<FirstRun | undefined> {
  const { base, leaderCore, stack, signal, lost } = options;
  const { people, builds, rooms } = options.app;
  const { config, log, clock, failpoint, store, leaderState } = base;
  const { masterKeys } = base.secrets;
  const { dataFolder, publicUrl } = config;
  const { world, reconciler, output } = leaderCore;
  if (options.isOneOfSeveral) stack.defer(() => leadership.giveUp().catch(() => undefined));
  const { epoch } = leadership;
  const fencing = await fenceDriver({ driver: base.driver, epoch, log, fenced: reconciler.nudge });
  leaderState.took(leadership.epoch);
  const made = await firstRun({ store, dataFolder, publicUrl, nowMs: clock.nowMs() });
  if (options.isOneOfSeveral) await markSecret(store, base.secrets);
  await noteSealingKey(store, masterKeys);
  await relinkSdk({ dataFolder, sdkFolder: findSdk(), log });
  await provisionSecrets({ store, clock, masterKeys, failpoint, log });

  // The first pass adopts what an earlier controller left, before any request. A failure must not keep the controller
  // from serving.
  await reconciler.pass().catch((error: unknown) => {
    if (error instanceof LeadershipLostError) throw error;
    log.error({ err: error }, "reconciling failed, will be retried");
  });
  stack.use(
    startBackgroundWork({
      work: [
        ...(fencing ? [fencing] : []),
        { name: "reconciler", run: (until) => reconciler.run(until) },
        { name: "builds", run: (until) => builds.run(until) },
        { name: "output", run: output.run },
        { name: "sign-in", run: (until) => keepSignIn(people, { clock, log, signal: until }) },
        { name: "measuring the data folder", run: (until) => keepMeasuring(base, until) },
        createRoomCloser({ world, close: rooms.close }),
      ],
      store,
      identity: base.identity,
      clock,
      log,
      config,
      keepImages: (needed) => keepImagesIn(base, needed),
      objectStore: base.objectStore,
      failpoint,
      signal,
      lost,
    }),
  );
  leaderState.leads();
  return made;
}

const SIGN_IN_MS = 30_000;
const FORGET_MS = 3_600_000;

/**
 * Loads sign-in and removes expired rows. It waits, because calls come first after a start; an earlier sign-in loads
 * it sooner.
 */
async function keepSignIn(
  people: People,
  { clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
): Promise<void> {
  await clock.sleep(SIGN_IN_MS, signal);
  while (!signal.aborted) {
    await people.ready();
    const removed = await people.forgetExpired();
    if (removed > 0) log.info({ removed }, "expired sign-ins removed");
    await clock.sleep(FORGET_MS, signal);
  }
}

const MEASURE_MS = 300_000; // it visits every file

async function keepMeasuring({ config, clock, metrics }: BaseServices, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const bytes = await measureDataFolder(config.dataFolder, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (bytes) metrics.measured(bytes);
    await clock.sleep(MEASURE_MS, signal);
  }
}

/** Several regions may share an engine for images; a driver for all of them asks each. */
async function keepImagesIn(
  { driver, imagesIn }: BaseServices,
  needed: ReadonlySet<string>,
): Promise<number> {
  const regions = driver.regional?.codes ?? [""];
  const builders = new Set(regions.flatMap((region) => imagesIn(region) ?? []));
  let removed = 0;
  for (const { keepOnly } of builders) removed += await keepOnly(needed);
  return removed;
}
