import type { OrganizationId } from "../auth/principal.ts";
import type { Driver } from "../drivers/driver.ts";
import type { InstanceRecords } from "../drivers/instance-records.ts";
import type { InstanceNetwork, InstanceReport } from "../instances/instance-network.ts";
import { LeadershipLostError, takeLease } from "../leader/leader.ts";
import { silentLog } from "../log.ts";
import type { QuotasOf } from "../quotas/quotas.ts";
import { createReconciler } from "../reconciler/reconcile.ts";
import { createMediaPorts, type PortRange } from "../pools/media-ports.ts";
import { createWakeups } from "../pools/wakeups.ts";
import { socketDoor } from "../sessions/doors/socket.ts";
import type { PendingLimits } from "../sessions/pending-sessions.ts";
import { createSightings } from "../sessions/sightings.ts";
import { startSession, type StartedSession } from "../sessions/start-session.ts";
import { stopSession } from "../sessions/stop-session.ts";
import type { Store } from "../store/store.ts";
import type { Timing } from "../timing.ts";
import type { World } from "../world.ts";
import type { Host } from "./host.ts";
import type { Random } from "./random.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** One life of the controller. It may die, or freeze and come back, at any of its awaits. */
export interface SimulatedController {
  start(key: string, transport: "webrtc"): Promise<StartedSession>;
  /** A client asks for a socket and never comes. */
  pend(): Promise<unknown>;
  stop(sessionId: string): Promise<void>;
  nudge(): void;
  readonly isDead: boolean;
  kill(): void;
  /** Stands still for a while, as under SIGSTOP, then goes on as if nothing had been. */
  freeze(ms: number): void;
}

export interface SimulationSetting {
  time: VirtualTime;
  random: Random;
  host: Host;
  store: Store;
  timing: Timing;
  pendingLimits: PendingLimits;
  quotasOf: QuotasOf;
  mediaPorts: PortRange;
  organizationId: OrganizationId;
  agentId: string;
  agentName: string;
  /** The share of awaits at which the controller dies. */
  deathRate: number;
}

/** Resolves once it leads. */
export async function bootController(setting: SimulationSetting, name: string): Promise<SimulatedController> {
  const { time, random, host, timing } = setting;
  let isDead = false;
  let frozenUntilMs = 0;
  const forever = new Promise<never>(() => undefined);

  /** Passed at every await: here the controller may be gone for good, or for a while. */
  async function live(): Promise<void> {
    if (!isDead && random.chance(setting.deathRate)) isDead = true;
    if (isDead) return forever;
    const waitMs = frozenUntilMs - time.monotonicMs();
    if (waitMs > 0) {
      await time.sleep(waitMs);
      return live();
    }
    return undefined;
  }

  async function effect<T>(run: () => T | Promise<T>): Promise<T> {
    await live();
    await time.sleep(random.between(0.1, random.chance(0.05) ? 2_000 : 5)); // the order was on its way
    const result = await run(); // happens whether or not we live to hear of it
    await live();
    await time.sleep(random.between(0.1, 5));
    await live();
    return result;
  }

  const store: Store = {
    ...setting.store,
    async transaction(run) {
      await live();
      const result = await setting.store.transaction(async (tx) => {
        const value = await run(tx);
        if (isDead || random.chance(setting.deathRate)) {
          isDead = true;
          throw new Error("died before the commit");
        }
        return value;
      });
      await live();
      return result;
    },
    async [Symbol.asyncDispose]() {},
  };
  const epoch = await takeLease({
    store: setting.store,
    clock: time,
    timing,
    holder: name,
    isDead: () => true,
    newestEpoch: async () => host.newestEpoch(),
  });
  if (epoch === undefined) throw new Error("The lease was not free");

  const driver: Driver = {
    capabilities: { runs: ["build"], cpuLimit: false, memoryLimit: false, isolation: "none" },
    fence: (wanted) => effect(() => host.fence(wanted)),
    newestEpoch: async () => host.newestEpoch(),
    create: (spec) => effect(() => host.create(spec.id, epoch)),
    async list() {
      await live();
      await time.sleep(random.between(0.1, 5));
      const seen = host.list();
      await time.sleep(random.between(0.1, random.chance(0.1) ? 3_000 : 5)); // old news
      await live();
      return seen;
    },
    onChange() {},
    destroy: (id, { graceMs }) => effect(() => host.destroy(id, graceMs, epoch)),
    forget: (id) => effect(() => host.forget(id)),
  };
  const records: InstanceRecords = {
    exitRecord: (id, sessionId) => effect(() => host.exitRecord(id, sessionId)),
    aliveRecord: (id) => effect(() => host.aliveRecord(id)),
    output: async () => ({ lines: [], nextPosition: 0 }),
    makeSpace: async () => 0,
    remove: (id) => effect(() => host.removeRecords(id)),
  };

  const reports = new Map<string, InstanceReport>();
  const network: InstanceNetwork = {
    start: (target, request) => effect(() => host.start(target.id, request)),
    stop: (target, request) => effect(() => host.stop(target.id, request.sessionId, request.epoch)),
    watch(targets) {
      const wanted = new Set(targets.map(({ id }) => id));
      for (const id of reports.keys()) if (!wanted.has(id)) reports.delete(id);
      for (const id of wanted) {
        const status = host.status(id);
        if (!status || random.chance(0.1)) continue; // a lost event: the old report stands
        reports.set(id, { status, heardAtMs: time.monotonicMs(), heardAt: time.nowMs() });
      }
    },
    report: (id) => reports.get(id),
    missed: () => 0,
  };

  const world: World = {
    store,
    driver,
    records,
    network,
    clock: {
      nowMs: time.nowMs,
      monotonicMs: time.monotonicMs,
      async sleep(ms, signal) {
        await time.sleep(ms, signal);
        await live();
      },
    },
    newId: random.id,
    timing,
    pendingLimits: setting.pendingLimits,
    quotasOf: setting.quotasOf,
    mediaPorts: createMediaPorts({ range: setting.mediaPorts, log: silentLog }),
    sightings: createSightings(),
    failpoint: () => undefined,
    log: silentLog,
    hasVoiceEngine: true,
    epoch,
  };
  await driver.fence(epoch);
  const wakeups = createWakeups(world.clock);
  const reconciler = createReconciler({
    world,
    wakeups,
    bootsAtOnce: 3,
    redact: async (_instance, text) => text,
    deploying: {
      prepare: async () => undefined,
      specOf: async ({ id }) => ({
        id,
        source: { kind: "build", folder: "" },
        environment: {},
        token: "",
        cpuMillicores: 500,
        memoryMib: 1024,
        heartbeatMs: timing.heartbeatMs,
        aloneMs: timing.instanceAloneMs,
      }),
    },
  });
  void reconciler.run(new AbortController().signal).catch((error: unknown) => {
    if (!(error instanceof LeadershipLostError) && !isDead)
      host.faults.push(`the reconciler failed: ${String(error)}`);
    isDead = true;
  });
  const starter = { world, wakeups, nudge: reconciler.nudge, isEnding: () => false };
  const { organizationId, agentId, agentName } = setting;
  return {
    start: (key, transport) =>
      startSession(starter, {
        organizationId,
        agentName,
        transport,
        body: {},
        apiKeyId: null,
        concurrency: null,
        connect: { kind: "webrtc", iceServers: [] },
        idempotency: { key, parametersHash: key },
      }),
    pend: () =>
      socketDoor.start(
        {
          starter,
          signer: { secret: "" },
          iceServersOf: () => [],
          rooms: {
            make: () => Promise.reject(new Error("There are no rooms in a simulation")),
            readReady: () => undefined,
            forwardCall: async () => undefined,
            close: async () => undefined,
            readCall: async () => undefined,
          },
          queueMs: 0,
          instanceToken: () => "",
          callbackUrl: "",
          dialling: {
            takesPublicKeys: false,
            accountsOf: () => Promise.reject(new Error("There are no carriers in a simulation")),
          },
        },
        {
          asked: {
            principal: { kind: "user", userId: "", email: "", role: "owner", organizationId },
            agentName,
            transport: "websocket",
            body: {},
            enableDefaultIceServers: false,
            room: {
              requested: "room",
              roomProperties: undefined,
              tokenProperties: undefined,
              token: undefined,
            },
            dialout: undefined,
            idempotencyKey: undefined,
            wsBase: "",
          },
          session: {
            organizationId,
            agentName,
            transport: "websocket",
            body: {},
            apiKeyId: null,
            concurrency: null,
          },
        },
      ),
    stop: (sessionId) => stopSession(world, { organizationId, agentId, sessionId, actor: "system" }),
    nudge: reconciler.nudge,
    get isDead() {
      return isDead;
    },
    kill() {
      isDead = true;
    },
    freeze(ms) {
      frozenUntilMs = time.monotonicMs() + ms;
    },
  };
}
