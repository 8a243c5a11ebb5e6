import { chmod, rm } from "node:fs/promises";
import type { Config } from "../config.ts";
import type { Log } from "@vocalhost/base/log";
import { sampleProcess } from "@vocalhost/base/metrics/process-figures";
import { createApp, type App } from "./create-app.ts";
import { createLeaderCore } from "./leader-core.ts";
import { endAllSessions } from "./end-all-sessions.ts";
import { openOwnerLink } from "./first-run.ts";
import type { FirstRun } from "./first-run-file.ts";
import type { Leadership } from "./lead.ts";
import { openBaseServices } from "./base-services.ts";
import { requireSameSecret } from "./require-same-secret.ts";
import type { OpenRoomServer } from "./room-server.ts";
import { startLeading, type LeadingOptions } from "./start-leading.ts";

/**
 * The process that makes the decisions. Disposing it leaves sessions and instances alone; the next controller adopts
 * them.
 */
export interface Controller extends AsyncDisposable {
  /** Set on the very first start. */
  readonly firstRun: FirstRun | undefined;
  /** A link that makes its holder the owner, while the service has none. */
  readonly ownerLink: string | undefined;
  /**
   * Ends every session, then every instance, for the final shutdown of the service. Does nothing if other controllers
   * may run beside it.
   */
  endSessions(): Promise<void>;
  /** Resolves when another controller has taken over or this one failed to; the process must then exit. */
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
  await using stack = new AsyncDisposableStack(); // undoes an incomplete start
  const { dataFolder, publicUrl } = config;
  const base = await openBaseServices(config, { log, stack });
  const { clock, store, lease, metrics } = base;
  // A standby that gateways can reach is useful: it answers reads until it leads.
  const isOneOfSeveral = config.peers?.listen !== undefined && store.dialect === "postgres";
  const leadership = isOneOfSeveral ? await lease.take() : await lease.wait();
  const ending = new AbortController();
  const replaced = Promise.withResolvers<void>();
  if (leadership) keep(leadership, { signal: ending.signal, lost: replaced.resolve });
  else await requireSameSecret(store.db, base.secrets);
  stack.defer(() => ending.abort());
  stack.use(sampleProcess({ restarts: config.restarts, sampled: metrics.controllerSampled }));

  let isEnding = false;
  const leaderCore = createLeaderCore(base, stack);
  const app = await createApp(base, leaderCore, {
    stack,
    isEnding: () => isEnding,
    openRoomServer,
  });
  const leading: LeadingOptions = {
    ...{ base, leaderCore, app, isOneOfSeveral },
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
      return base.leaderState.isLeading;
    },
    async endSessions() {
      if (isOneOfSeveral) return;
      isEnding = true;
      const { world, reconciler, output } = leaderCore;
      reconciler.stopMaking();
      await endAllSessions({ world, nudge: reconciler.nudge, madeAll: reconciler.madeAll, output });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Leads as soon as the lease is free. Returns a function that ends that. */
function standBy(leading: LeadingOptions): () => Promise<void> {
  const { lease, log } = leading.base;
  const ending = new AbortController();
  const leaderState = lease
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
    await leaderState;
  };
}

// Renewal begins immediately: opening and taking over may take longer than the lease.
function keep(leadership: Leadership, { signal, lost }: { signal: AbortSignal; lost(): void }): void {
  void leadership.keep(signal).then((how) => (how === "lost" ? lost() : undefined));
}

async function listen({ app }: App, { peers, controllerSocket }: Config): Promise<void> {
  if (peers?.listen) return void (await app.listen(peers.listen));
  await rm(controllerSocket, { force: true }); // only the leader listens here, so this socket belongs to a dead process
  await app.listen({ path: controllerSocket });
  await chmod(controllerSocket, 0o600);
}
