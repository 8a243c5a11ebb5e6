import type { AddressInfo } from "node:net";
import { randomUUID } from "node:crypto";
import { chmod, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createApiApp } from "../api/create-api-app.ts";
import { mountApi } from "../api/mount-api.ts";
import { createAdmission } from "../auth/admission.ts";
import { createApiKeys } from "../auth/api-keys.ts";
import { createKeyCache } from "../auth/key-cache.ts";
import { openPeople } from "../auth/people.ts";
import { createStartLimits } from "../auth/rate-limits.ts";
import { buildFolder } from "../builds/build-rows.ts";
import { createBuilds } from "../builds/builds.ts";
import type { Config } from "../config.ts";
import { mountDashboard } from "../dashboard/mount-dashboard.ts";
import { openProcessDriver } from "../drivers/process.ts";
import { createFailpoint } from "../failpoints.ts";
import { openHttpInstanceNetwork } from "../instances/http-instance-network.ts";
import { storeOfLeader } from "../leader/leader.ts";
import type { Log } from "../log.ts";
import { createReconciler } from "../reconciler/reconcile.ts";
import { createWakeups } from "../pools/wakeups.ts";
import { provisionSecrets } from "../secrets/provision.ts";
import { requireKnownMasterKeys } from "../secrets/rewrap.ts";
import { createSecretSets } from "../secrets/secret-sets.ts";
import { environmentOf } from "../secrets/secret-values.ts";
import { createSocketSessions } from "../sessions/socket-sessions.ts";
import { openStore } from "../store/open-store.ts";
import { systemClock } from "../system-clock.ts";
import { VERSION } from "../version.ts";
import type { World } from "../world.ts";
import { startBackgroundWork } from "./background-work.ts";
import { createDeploying } from "./deploying.ts";
import { endAllSessions } from "./end-all-sessions.ts";
import { findSdk } from "./find-sdk.ts";
import { firstRun, newOwnerLink, type FirstRun } from "./first-run.ts";
import { mountInternalRoutes } from "./internal-routes.ts";
import { becomeLeader } from "./lead.ts";
import { createOutputWork } from "./output-work.ts";
import { openServiceSecrets } from "./service-secrets.ts";
import { createSessionDoors } from "./session-doors.ts";

/** The process that decides. Disposing it leaves sessions and instances alone; the next one adopts them. */
export interface Controller extends AsyncDisposable {
  /** Set on the very first start. */
  readonly firstRun: FirstRun | undefined;
  /** While nobody owns the service: a link that makes its holder the owner. */
  readonly ownerLink: string | undefined;
  /** Ends every session, then every instance: the service is shutting down for good. */
  endSessions(): Promise<void>;
  /** Resolves when another controller has taken over; this one must go. */
  readonly replaced: Promise<void>;
}

export async function startController(config: Config, log: Log): Promise<Controller> {
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  const clock = systemClock;
  const { timing, dataFolder, publicUrl } = config;
  const failpoint = createFailpoint(config.failpointFile);
  const newId = (): string => randomUUID();
  const secrets = await openServiceSecrets(config);
  const { instanceToken, masterKeys } = secrets;
  if (secrets.isNewMasterKey)
    log.info(
      { file: join(dataFolder, "master-keys") },
      "made a master key; keep a copy, without it stored secrets cannot be read",
    );
  const opened = stack.use(await openStore({ databaseUrl: config.databaseUrl, dataFolder, log }));
  await requireKnownMasterKeys(opened, masterKeys);
  const driver = await openProcessDriver({ folder: join(dataFolder, "instances"), log });
  const leadership = await becomeLeader({ store: opened, clock, timing, log });
  const store = storeOfLeader({ store: opened, epoch: leadership.epoch });
  await driver.fence(leadership.epoch);
  const made = await firstRun({ store, dataFolder, publicUrl, nowMs: clock.nowMs() });

  const ending = new AbortController();
  const replaced = Promise.withResolvers<void>();
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
    store: opened, // what decides checks the epoch itself
    driver,
    network,
    clock,
    newId,
    timing,
    failpoint,
    log,
    epoch: leadership.epoch,
  };
  const wakeups = createWakeups(clock);
  const regions = codes(config);
  const builds = createBuilds({ store, clock, newId, log, regions, dataFolder, sdkFolder: findSdk() });
  const secretsOf: SecretsOf = (organizationId, name, version) =>
    environmentOf({ db: store.db, masterKeys }, organizationId, { setName: name, version });
  const output = createOutputWork({ store, driver, clock, log, secretsOf });
  const reconciler = createReconciler({
    world,
    wakeups,
    deploying: createDeploying({
      store,
      timing,
      instanceToken,
      buildFolder: (id) => buildFolder(dataFolder, id),
      secretsOf,
    }),
    bootsAtOnce: Math.max(2, Math.min(availableParallelism(), 4)),
    beforeForget: output.drain,
    passed: output.passed,
  });
  driver.onChange(() => reconciler.nudge());

  const keyCache = stack.use(createKeyCache({ store, clock }));
  const people = openPeople({
    store,
    clock,
    log,
    baseUrl: publicUrl,
    secret: secrets.peopleSecret,
    oidc: config.oidc,
  });
  const signer = { secret: secrets.socketSecret };
  const admit = createAdmission({ store, clock, keyCache, people, signer });
  let isEnding = false;
  const starter = { world, wakeups, nudge: reconciler.nudge, isEnding: () => isEnding };
  const sockets = createSocketSessions({
    starter,
    signer,
    instanceToken,
    queueMs: config.queueMs,
  });
  const doors = createSessionDoors({
    starter,
    sockets,
    admit,
    iceServers: config.iceServers,
    queueMs: config.queueMs,
    instanceToken,
    signer,
  });
  const secretSets = stack.use(createSecretSets({ store, clock, masterKeys, regions, failpoint, log }));
  const app = createApiApp(log);
  app.addHook("onResponse", async ({ routeOptions }, { statusCode }) => {
    if (statusCode === 200 && routeOptions.url?.endsWith("/start")) failpoint("active.replied.after");
  });
  await mountApi(app, {
    store,
    clock,
    log,
    newId,
    failpoint,
    admit,
    startLimits: createStartLimits({ clock }),
    apiKeys: createApiKeys({ store, clock, cache: keyCache, failpoint }),
    secretSets,
    builds,
    people,
    signInMethods: config.oidc ? ["password", "oidc"] : ["password"],
    regions: config.regions,
    registries: config.registries,
    nudge: () => reconciler.nudge(),
    startSession: doors.start,
    stopSession: doors.stop,
    version: VERSION,
    ...(config.metricsToken ? { metricsToken: config.metricsToken } : {}),
  });
  mountDashboard(app);
  mountInternalRoutes(app, { doors, sockets, left: () => reconciler.nudge() });
  await provisionSecrets({ store, clock, masterKeys, failpoint, log });

  await reconciler.pass(); // everything an earlier controller left is taken over before anybody asks
  stack.use(
    startBackgroundWork({
      work: [
        { name: "reconciler", run: (signal) => reconciler.run(signal) },
        { name: "builds", run: (signal) => builds.run(signal) },
        { name: "output", run: output.run },
        { name: "sign-in", run: () => people.ready() },
      ],
      store,
      clock,
      log,
      config,
      failpoint,
      signal: ending.signal,
      lost: replaced.resolve,
    }),
  );
  void leadership.keep(ending.signal).then((how) => (how === "lost" ? replaced.resolve() : undefined));
  stack.defer(() => ending.abort());
  await listen(app, config.controllerSocket);
  stack.defer(() => app.close());
  const owned = stack.move();
  return {
    firstRun: made,
    ownerLink: made?.ownerLink ?? (await newOwnerLink({ store, people, publicUrl })),
    replaced: replaced.promise,
    endSessions() {
      isEnding = true;
      reconciler.stopMaking();
      return endAllSessions({ world, nudge: reconciler.nudge, output });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type SecretsOf = Parameters<typeof createDeploying>[0]["secretsOf"];

function codes({ regions }: Config): string[] {
  return regions.map(({ code }) => code);
}

// Only the leader listens, so whatever socket is there belongs to somebody who is gone.
async function listen(
  app: {
    listen(options: { path: string }): Promise<unknown>;
    server: { address(): AddressInfo | string | null };
  },
  path: string,
): Promise<void> {
  await rm(path, { force: true });
  await app.listen({ path });
  await chmod(path, 0o600);
}
