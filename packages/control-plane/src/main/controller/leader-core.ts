import { availableParallelism } from "node:os";
import type { Config } from "../config.ts";
import { driverIn, type PullSecret } from "@vocalhost/drivers/driver";
import { createPreparing } from "../../agents/deployments/preparing.ts";
import { createDeploying, type DeployingOptions } from "../../agents/deployments/deploying.ts";
import { openHttpInstanceNetwork } from "../../pools/instances/http-instance-network.ts";
import { createMediaPorts } from "../../pools/media-ports.ts";
import { createWakeups, type Wakeups } from "../../pools/wakeups.ts";
import { Reconciler } from "../../reconciler/reconcile.ts";
import { environmentOf, imagePullCredentialOf } from "../../secrets/secret-values.ts";
import { createLastSeen } from "../../sessions/last-seen.ts";
import type { World } from "../../sessions/world.ts";
import { createOutputWork, type OutputWork } from "./output-work.ts";
import { nearestTo } from "@vocalhost/drivers/regional/region-config";
import { createRedactors, redactOrCut } from "./redactors.ts";
import type { BaseServices } from "./base-services.ts";

/** The parts that decide about instances and sessions, and their dependencies. */
export interface LeaderCore {
  world: World;
  wakeups: Wakeups;
  reconciler: Reconciler;
  output: OutputWork;
  secretsOf: DeployingOptions["secretsOf"];
}

export function createLeaderCore(base: BaseServices, stack: AsyncDisposableStack): LeaderCore {
  const { config, log, clock, failpoint, newId, store, driver, records } = base;
  const { timing } = config;
  const { instanceToken, masterKeys } = base.secrets;
  const network = stack.use(
    openHttpInstanceNetwork({
      tokenOf: instanceToken,
      clock,
      heartbeatMs: timing.heartbeatMs,
      log,
      heard: () => reconciler.nudge(),
    }),
  );
  const world: World = {
    store: base.uncheckedStore, // these parts check the epoch themselves
    driver,
    records,
    network,
    clock,
    newId,
    timing,
    pendingLimits: config.pendingLimits,
    quotasOf: config.quotasOf,
    mediaPorts: createMediaPorts({ range: config.media.ports, log }),
    lastSeen: createLastSeen(),
    failpoint,
    log,
    hasVoiceEngine: base.vivaEngine !== undefined,
    keptAwake: config.keptAwake,
    nearestTo: nearestTo(config.regions, config.nearestRegions),
    get epoch() {
      return base.leaderState.epoch;
    },
  };
  const wakeups = createWakeups(clock);
  const secretsOf: DeployingOptions["secretsOf"] = (organizationId, setName, version) =>
    environmentOf({ db: store.db, masterKeys }, organizationId, { setName, version });
  const redactors = createRedactors({ store, log, clock, secretsOf });
  const { redactorOf } = redactors;
  const output = createOutputWork({ store, records, clock, log, redactorOf });
  const reconciler: Reconciler = new Reconciler({
    world,
    wakeups,
    deploying: createDeploying({
      store,
      timing,
      runsIn: (region) => driverIn(driver, region).capabilities.runs,
      preparing: createPreparing({ driver, changed: () => reconciler.nudge() }),
      instanceToken,
      mediaAddresses: config.media.addresses,
      vivaEngine: base.vivaEngine,
      buildFolder: base.buildFolders.bring,
      buildPullSecretIn: (region) => buildPullSecretOf(config, region),
      secretsOf: redactors.secretsOf,
      pullSecretOf: (organizationId, name) =>
        imagePullCredentialOf({ db: store.db, masterKeys }, organizationId, name),
    }),
    redact: ({ deploymentId }, text) => redactOrCut(redactorOf, deploymentId, text),
    bootsAtOnce: Math.max(2, Math.min(availableParallelism(), 4)),
    beforeForget: output.drain,
    passed: output.passed,
    took: base.metrics.passDone,
    failed: base.metrics.passFailed,
    filterDone: base.metrics.filterDone,
  });
  driver.onChange(() => reconciler.nudge());
  return { world, wakeups, reconciler, output, secretsOf };
}

function buildPullSecretOf({ driver, regions = [] }: Config, region: string): PullSecret | undefined {
  const own = regions.find(({ code }) => code === region)?.driver ?? driver;
  return own.kind === "container" ? own.builds.registry?.secret : undefined;
}
