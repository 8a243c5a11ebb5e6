import { availableParallelism } from "node:os";
import type { Config } from "../config.ts";
import { driverIn, type PullSecret } from "@vocalhost/drivers/driver";
import { createPreparing } from "../../agents/deployments/preparing.ts";
import { createDeploying, type DeployingOptions } from "../../agents/deployments/deploying.ts";
import { openHttpInstanceNetwork } from "../../pools/instances/http-instance-network.ts";
import { createMediaPorts } from "../../pools/media-ports.ts";
import { createWakeups, type Wakeups } from "../../pools/wakeups.ts";
import { createReconciler, type Reconciler } from "../../reconciler/reconcile.ts";
import { environmentOf, imagePullCredentialOf } from "../../secrets/secret-values.ts";
import { createSightings } from "../../sessions/sightings.ts";
import type { World } from "../../sessions/world.ts";
import { createOutputWork, type OutputWork } from "./output-work.ts";
import { nearestTo } from "@vocalhost/drivers/regional/region-config";
import { createRedactors, redactOrCut } from "./redactors.ts";
import type { Ground } from "./open-ground.ts";

/** What decides about instances and sessions, and all it touches. */
export interface Decider {
  world: World;
  wakeups: Wakeups;
  reconciler: Reconciler;
  output: OutputWork;
  secretsOf: DeployingOptions["secretsOf"];
}

export function createDecider(ground: Ground, stack: AsyncDisposableStack): Decider {
  const { config, log, clock, failpoint, newId, store, driver, records } = ground;
  const { timing } = config;
  const { instanceToken, masterKeys } = ground.secrets;
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
    store: ground.uncheckedStore, // what decides checks the epoch itself
    driver,
    records,
    network,
    clock,
    newId,
    timing,
    pendingLimits: config.pendingLimits,
    quotasOf: config.quotasOf,
    mediaPorts: createMediaPorts({ range: config.media.ports, log }),
    sightings: createSightings(),
    failpoint,
    log,
    hasVoiceEngine: ground.vivaEngine !== undefined,
    keptAwake: config.keptAwake,
    nearestTo: nearestTo(config.regions, config.nearestRegions),
    get epoch() {
      return ground.standing.epoch;
    },
  };
  const wakeups = createWakeups(clock);
  const secretsOf: DeployingOptions["secretsOf"] = (organizationId, setName, version) =>
    environmentOf({ db: store.db, masterKeys }, organizationId, { setName, version });
  const redactors = createRedactors({ store, log, clock, secretsOf });
  const { redactorOf } = redactors;
  const output = createOutputWork({ store, records, clock, log, redactorOf });
  const reconciler = createReconciler({
    world,
    wakeups,
    deploying: createDeploying({
      store,
      timing,
      runsIn: (region) => driverIn(driver, region).capabilities.runs,
      preparing: createPreparing({ driver, changed: () => reconciler.nudge() }),
      instanceToken,
      mediaAddresses: config.media.addresses,
      vivaEngine: ground.vivaEngine,
      buildFolder: ground.buildFolders.bring,
      buildPullSecretIn: (region) => buildPullSecretOf(config, region),
      secretsOf: redactors.secretsOf,
      pullSecretOf: (organizationId, name) =>
        imagePullCredentialOf({ db: store.db, masterKeys }, organizationId, name),
    }),
    redact: ({ deploymentId }, text) => redactOrCut(redactorOf, deploymentId, text),
    bootsAtOnce: Math.max(2, Math.min(availableParallelism(), 4)),
    beforeForget: output.drain,
    passed: output.passed,
    took: ground.metrics.passDone,
    failed: ground.metrics.passFailed,
    filterDone: ground.metrics.filterDone,
  });
  driver.onChange(() => reconciler.nudge());
  return { world, wakeups, reconciler, output, secretsOf };
}

function buildPullSecretOf({ driver, regions = [] }: Config, region: string): PullSecret | undefined {
  const own = regions.find(({ code }) => code === region)?.driver ?? driver;
  return own.kind === "container" ? own.builds.registry?.secret : undefined;
}
