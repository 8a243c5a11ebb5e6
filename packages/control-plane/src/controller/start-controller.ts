import type { AddressInfo } from "node:net";
import { chmod, rm } from "node:fs/promises";
import type { People } from "../auth/people.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { LeadershipLostError } from "../leader/leader.ts";
import type { Log } from "../log.ts";
import { measureDataFolder } from "../metrics/data-folder.ts";
import { sampleProcess } from "../metrics/process-figures.ts";
import { provisionSecrets } from "../secrets/provision.ts";
import { createRoomCloser } from "../sessions/session-rooms.ts";
import { startBackgroundWork } from "./background-work.ts";
import { createApp } from "./create-app.ts";
import { createDecider } from "./create-decider.ts";
import { endAllSessions } from "./end-all-sessions.ts";
import { firstRun, openOwnerLink, type FirstRun } from "./first-run.ts";
import type { OpenRoomServer } from "./room-server.ts";
import { takeOver, type Ground } from "./take-over.ts";

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

export interface ControllerOptions {
  openRoomServer: OpenRoomServer;
}

export async function startController(
  config: Config,
  log: Log,
  { openRoomServer }: ControllerOptions,
): Promise<Controller> {
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  const { dataFolder, publicUrl } = config;
  const ground = await takeOver(config, { log, stack });
  const { clock, failpoint, store, leadership } = ground;
  const { masterKeys } = ground.secrets;
  const made = await firstRun({ store, dataFolder, publicUrl, nowMs: clock.nowMs() });

  const { metrics } = ground;
  stack.use(sampleProcess({ restarts: config.restarts, sampled: metrics.controllerSampled }));

  let isEnding = false;
  const decider = createDecider(ground, stack);
  const { world, reconciler, output } = decider;
  const { app, people, builds, rooms } = await createApp(ground, decider, {
    stack,
    isEnding: () => isEnding,
    openRoomServer,
  });
  await provisionSecrets({ store, clock, masterKeys, failpoint, log });

  // What an earlier controller left is taken over before anybody asks; what cannot be must not keep us from serving.
  await reconciler.pass().catch((error: unknown) => {
    if (error instanceof LeadershipLostError) throw error;
    log.error({ err: error }, "reconciling failed, will be retried");
  });
  const ending = new AbortController();
  const replaced = Promise.withResolvers<void>();
  stack.use(
    startBackgroundWork({
      work: [
        { name: "reconciler", run: (signal) => reconciler.run(signal) },
        { name: "builds", run: (signal) => builds.run(signal) },
        { name: "output", run: output.run },
        { name: "sign-in", run: (signal) => loadSignIn(people, { clock, signal }) },
        { name: "measuring the data folder", run: (signal) => keepMeasuring(ground, signal) },
        createRoomCloser({ world, close: rooms.close }),
      ],
      store,
      clock,
      log,
      config,
      keepImages: (needed) => keepImagesIn(ground, needed),
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
    ownerLink:
      made?.ownerLink ??
      (await openOwnerLink({ store, people, publicUrl, dataFolder, nowMs: clock.nowMs() })),
    replaced: replaced.promise,
    endSessions() {
      isEnding = true;
      reconciler.stopMaking();
      return endAllSessions({ world, nudge: reconciler.nudge, madeAll: reconciler.madeAll, output });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const SIGN_IN_MS = 5_000;

/** Whoever signs in earlier has it loaded then; calls that wait for a new controller come first. */
async function loadSignIn(people: People, { clock, signal }: { clock: Clock; signal: AbortSignal }) {
  await clock.sleep(SIGN_IN_MS, signal);
  if (!signal.aborted) await people.ready();
}

const MEASURE_MS = 300_000; // every file is looked at

async function keepMeasuring({ config, clock, metrics }: Ground, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const bytes = await measureDataFolder(config.dataFolder, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (bytes) metrics.measured(bytes);
    await clock.sleep(MEASURE_MS, signal);
  }
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

/** Regions may share one that makes images; a driver for all of them asks each. */
async function keepImagesIn({ driver, imagesIn }: Ground, needed: ReadonlySet<string>): Promise<number> {
  const regions = driver.regional?.codes ?? [""];
  const builders = new Set(regions.flatMap((region) => imagesIn(region) ?? []));
  let removed = 0;
  for (const { keepOnly } of builders) removed += await keepOnly(needed);
  return removed;
}
