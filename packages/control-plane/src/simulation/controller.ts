import type { OrganizationId } from "../identity/principal.ts";
import type { Driver, InstanceSpec } from "@vocalhost/drivers/driver";
import type { InstanceRecords } from "@vocalhost/drivers/instance-records";
import type { InstanceNetwork, InstanceReport } from "../pools/instances/instance-network.ts";
import { LeadershipLostError, takeLease } from "@vocalhost/store/leadership/leader";
import { silentLog } from "@vocalhost/base/log";
import type { QuotasOf } from "../identity/quotas/quotas.ts";
import { Reconciler } from "../reconciler/reconcile.ts";
import { createMediaPorts, type PortRange } from "../pools/media-ports.ts";
import { createWakeups } from "../pools/wakeups.ts";
import { NO_PREFERENCE, type RegionPreference } from "../sessions/choose-region.ts";
import { socketDoor } from "../sessions/doors/socket.ts";
import type { PendingLimits } from "../sessions/session-settings.ts";
import { createLastSeen } from "../sessions/last-seen.ts";
import { startSession, type StartedSession, type Starter } from "../sessions/start-session.ts";
import { stopSession } from "../sessions/stop-session.ts";
import type { Store, Tx } from "@vocalhost/store/store";
import type { Timing } from "@vocalhost/base/timing";
import type { World } from "../sessions/world.ts";
import type { Host } from "./host.ts";
import { createLife, type Life, type LifeOptions } from "./life.ts";

/** One life of the controller. It may die, or freeze and come back, at any of its awaits. */
export interface SimulatedController extends Pick<Life, "kill" | "freeze" | "isDead"> {
  start(key: string, agent: SimulatedAgent, preference?: RegionPreference): Promise<StartedSession>;
  /** A client asks for a socket and never comes. */
  pend(agent: SimulatedAgent): Promise<unknown>;
  stop(sessionId: string, agent: SimulatedAgent): Promise<void>;
  nudge(): void;
}

export interface SimulatedAgent {
  organizationId: OrganizationId;
  id: string;
  name: string;
}

export interface SimulationSetting extends LifeOptions {
  host: Host;
  store: Store;
  timing: Timing;
  pendingLimits: PendingLimits;
  /** Processors of the machine on which all instances load. @default a cluster, which finds room */
  cores?: number | undefined;
  quotasOf: QuotasOf;
  mediaPorts: PortRange | undefined;
  /** How long the host takes to say what is there. */
  listMs: number;
  /** Regions whose drivers do not answer at present. */
  down?(): ReadonlySet<string>;
  /** Called in every transaction that is about to be committed. */
  commits?(tx: Tx, epoch: number): Promise<void>;
  /** Called after every pass. */
  passed?(): void;
}

/** Starts a controller that takes the lease at once. */
export async function bootController(setting: SimulationSetting, name: string): Promise<SimulatedController> {
  const { time, host, timing } = setting;
  const epoch = await takeLease({
    store: setting.store,
    clock: time,
    timing,
    holder: name,
    isDead: () => true,
    newestEpoch: async () => host.newestEpoch(),
  });
  if (epoch === undefined) throw new Error("The lease was not free");
  return startDeciding(setting, createLife(setting), epoch);
}

/** Runs a controller that leads. */
export async function startDeciding(
  setting: SimulationSetting,
  life: Life,
  epoch: number,
): Promise<SimulatedController> {
  const { time, random, host, timing } = setting;
  const store = storeOf(setting, life, epoch);
  const driver = driverOf(setting, life, epoch);
  const world: World = {
    store,
    driver,
    records: recordsOf(setting, life),
    network: networkOf(setting, life),
    clock: {
      nowMs: time.nowMs,
      monotonicMs: time.monotonicMs,
      async sleep(ms, signal) {
        await time.sleep(ms, signal);
        await life.live();
      },
    },
    newId: random.id,
    timing,
    pendingLimits: setting.pendingLimits,
    quotasOf: setting.quotasOf,
    mediaPorts: createMediaPorts({ range: setting.mediaPorts, log: silentLog }),
    lastSeen: createLastSeen(),
    failpoint: () => undefined,
    log: silentLog,
    hasVoiceEngine: true,
    epoch,
  };
  await driver.fence(epoch);
  const wakeups = createWakeups(world.clock);
  const reconciler = new Reconciler({
    world,
    wakeups,
    bootsAtOnce: 3,
    passed: async () => setting.passed?.(),
    redact: async (_instance, text) => text,
    deploying: { prepare: async () => undefined, specOf: async ({ id }) => specOf(id, timing) },
  });
  void reconciler.run(new AbortController().signal).catch((error: unknown) => {
    if (!(error instanceof LeadershipLostError) && !life.isDead)
      host.faults.push(`the reconciler failed: ${String(error)}`);
    life.kill();
  });
  const starter = { world, wakeups, nudge: reconciler.nudge, isEnding: () => false };
  return {
    start: (key, { organizationId, name: agentName }, region) =>
      startSession(starter, {
        ...{ organizationId, agentName, region, transport: "webrtc", body: {} },
        ...{ apiKeyId: null, concurrency: null, connect: { kind: "webrtc", iceServers: [] } },
        idempotency: { key, parametersHash: key },
      }),
    pend: (agent) => pend(starter, agent),
    async stop(sessionId, { organizationId, name }) {
      const agents = await store.db.selectFrom("agents").select("id").where("name", "=", name).execute();
      const agentIds = agents.map(({ id }) => id);
      await stopSession(world, { organizationId, agentIds, sessionId, actor: "system" });
    },
    nudge: reconciler.nudge,
    get isDead() {
      return life.isDead;
    },
    kill: life.kill,
    freeze: life.freeze,
  };
}

/** A store at whose transactions the controller may die. */
function storeOf(setting: SimulationSetting, life: Life, epoch: number): Store {
  const { random, deathRate } = setting;
  return {
    ...setting.store,
    async transaction(run, options) {
      await life.live();
      const result = await setting.store.transaction(async (tx) => {
        const value = await run(tx);
        if (life.isDead || random.chance(deathRate)) {
          life.kill();
          throw new Error("died before the commit");
        }
        await setting.commits?.(tx, epoch);
        return value;
      }, options);
      await life.live();
      return result;
    },
    async [Symbol.asyncDispose]() {},
  };
}

function driverOf(setting: SimulationSetting, { live, effect }: Life, epoch: number): Driver {
  const { time, random, host, cores, down } = setting;
  const driver: Driver = {
    capabilities: { runs: ["build"], cpuLimit: false, memoryLimit: false, isolation: "none" },
    ...(cores === undefined ? {} : { cores }),
    fence: (wanted) => effect(() => host.fence(wanted)),
    newestEpoch: async () => host.newestEpoch(),
    create: (spec) => effect(() => host.create(spec.id, epoch)),
    async list() {
      await live();
      await time.sleep(random.between(0.1, setting.listMs));
      const seen = host.list();
      await time.sleep(random.between(0.1, random.chance(0.1) ? 3_000 : 5)); // old news
      await live();
      return seen;
    },
    ...(down ? { regional: { codes: [], in: () => driver, away: down } } : {}),
    onChange() {},
    destroy: (id, { graceMs }) => effect(() => host.destroy(id, graceMs, epoch)),
    forget: (id) => effect(() => host.forget(id)),
  };
  return driver;
}

function recordsOf({ host }: SimulationSetting, { effect }: Life): InstanceRecords {
  return {
    exitRecord: (id, sessionId) => effect(() => host.exitRecord(id, sessionId)),
    aliveRecord: (id) => effect(() => host.aliveRecord(id)),
    output: async () => ({ lines: [], nextPosition: 0 }),
    makeSpace: async () => 0,
    remove: (id) => effect(() => host.removeRecords(id)),
  };
}

function networkOf({ time, random, host }: SimulationSetting, { effect }: Life): InstanceNetwork {
  const reports = new Map<string, InstanceReport>();
  return {
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
}

function specOf(id: string, { heartbeatMs, instanceAloneMs: aloneMs }: Timing): InstanceSpec {
  return {
    ...{ id, source: { kind: "build", folder: "" }, environment: {}, token: "" },
    ...{ cpuMillicores: 500, memoryMib: 1024, heartbeatMs, aloneMs },
  };
}

/** Has a session wait for a socket that never comes. */
function pend(starter: Starter, { organizationId, name: agentName }: SimulatedAgent): Promise<unknown> {
  const none = () => Promise.reject(new Error("There are no rooms and carriers in a simulation"));
  const asked = { agentName, transport: "websocket", body: {} } as const;
  return socketDoor.start(
    {
      ...{ starter, signer: { secret: "" }, iceServersOf: () => [], queueMs: 0 },
      ...{ instanceToken: () => "", callbackUrl: "" },
      rooms: {
        ...{ require: async () => undefined, make: none, readReady: async () => undefined },
        ...{ forwardCall: async () => undefined, close: async () => undefined },
        readCall: async () => undefined,
      },
      dialling: { takesPublicKeys: false, accountsOf: none },
    },
    {
      asked: {
        ...asked,
        principal: { kind: "user", userId: "", email: "", role: "owner", organizationId },
        ...{ address: "", enableDefaultIceServers: false, region: NO_PREFERENCE, wsBase: "" },
        room: { requested: "room", roomProperties: undefined, tokenProperties: undefined, token: undefined },
        ...{ dialout: undefined, idempotencyKey: undefined },
      },
      session: { ...asked, organizationId, apiKeyId: null, concurrency: null },
    },
  );
}
