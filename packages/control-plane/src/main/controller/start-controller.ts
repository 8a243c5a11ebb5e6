import { chmod, rm } from "node:fs/promises";
import type { Config } from "../config.ts";
import type { Log } from "@vocalhost/base/log";
import { sampleProcess } from "@vocalhost/base/metrics/process-figures";
import { createApp, type App } from "./create-app.ts";
import { createDecider } from "./create-decider.ts";
import { endAllSessions } from "./end-all-sessions.ts";
import { openOwnerLink } from "./first-run.ts";
import type { FirstRun } from "./first-run-file.ts";
import type { Leadership } from "./lead.ts";
import { openGround } from "./open-ground.ts";
import { requireSameSecret } from "./require-same-secret.ts";
import type { OpenRoomServer } from "./room-server.ts";
import { startLeading, type LeadingOptions } from "./start-leading.ts";

/** The process that decides. Disposing it leaves sessions and instances alone; the next one adopts them. */
export interface Controller extends AsyncDisposable {
  /** Set on the very first start. */
  readonly firstRun: FirstRun | undefined;
  /** While nobody owns the service: a link that makes its holder the owner. */
  readonly ownerLink: string | undefined;
  /** Ends every session, then every instance: the service is shutting down for good. With others beside it, it is not. */
  endSessions(): Promise<void>;
  /** Resolves when another controller has taken over, or this one could not; it must go. */
  readonly replaced: Promise<void>;
  readonly leads: boolean;
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
  const ground = await openGround(config, { log, stack });
  const { clock, store, candidate, metrics } = ground;
  // Where others can reach it, one that does not lead is of use: it answers reads until it does.
  const isOneOfSeveral = config.peers?.listen !== undefined && store.dialect === "postgres";
  const leadership = isOneOfSeveral ? await candidate.take() : await candidate.wait();
  const ending = new AbortController();
  const replaced = Promise.withResolvers<void>();
  if (leadership) keep(leadership, { signal: ending.signal, lost: replaced.resolve });
  else await requireSameSecret(store.db, ground.secrets);
  stack.defer(() => ending.abort());
  stack.use(sampleProcess({ restarts: config.restarts, sampled: metrics.controllerSampled }));

  let isEnding = false;
  const decider = createDecider(ground, stack);
  const app = await createApp(ground, decider, {
    stack,
    isEnding: () => isEnding,
    openRoomServer,
  });
  const leading: LeadingOptions = {
    ...{ ground, decider, app, isOneOfSeveral },
    stack: stack.use(new AsyncDisposableStack()),
    signal: ending.signal,
    lost: replaced.resolve,
  };
  const made = leadership && (await startLeading(leadership, leading));
  stack.defer(() => ending.abort());
  if (!leadership) stack.defer(standBy(leading));
  await listen(app, config);
  stack.defer(() => app.app.close());
  const owned = stack.move();
  const { people } = app;
  return {
    firstRun: made,
    ownerLink:
      made?.ownerLink ??
      (leadership && (await openOwnerLink({ store, people, publicUrl, dataFolder, nowMs: clock.nowMs() }))),
    replaced: replaced.promise,
    get leads() {
      return ground.standing.isLeading;
    },
    async endSessions() {
      if (isOneOfSeveral) return;
      isEnding = true;
      const { world, reconciler, output } = decider;
      reconciler.stopMaking();
      await endAllSessions({ world, nudge: reconciler.nudge, madeAll: reconciler.madeAll, output });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Leads as soon as nobody else does. Gives what ends that. */
function standBy(leading: LeadingOptions): () => Promise<void> {
  const { candidate, log } = leading.ground;
  const ending = new AbortController();
  const standing = candidate
    .wait(AbortSignal.any([leading.signal, ending.signal]))
    .then((leadership) => {
      if (!leadership) return undefined;
      keep(leadership, leading);
      return startLeading(leadership, leading);
    })
    .catch((error: unknown) => {
      log.error({ err: error }, "could not take over, ending");
      leading.lost();
    });
  return async () => {
    ending.abort();
    await standing;
  };
}

// From the moment it is ours: opening and taking over may take longer than the lease.
function keep(leadership: Leadership, { signal, lost }: { signal: AbortSignal; lost(): void }): void {
  void leadership.keep(signal).then((how) => (how === "lost" ? lost() : undefined));
}

async function listen({ app }: App, { peers, controllerSocket }: Config): Promise<void> {
  if (peers?.listen) return void (await app.listen(peers.listen));
  await rm(controllerSocket, { force: true }); // only the leader listens here: this one belongs to somebody who is gone
  await app.listen({ path: controllerSocket });
  await chmod(controllerSocket, 0o600);
}
