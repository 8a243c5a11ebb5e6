import type { Deploying } from "../agents/deployments/deploying.ts";
import { DriverUnavailableError, driverIn, type SeenInstance } from "@vocalhost/drivers/driver";
import type { InstanceReport } from "../pools/instances/instance-network.ts";
import { LeadershipLostError } from "@vocalhost/store/leadership/leader";
import type { AgentRow, InstanceRow } from "@vocalhost/store/schema";
import type { World } from "../sessions/world.ts";
import { dealBoots } from "../pools/deal-boots.ts";
import { BootSlots } from "./boot-slots.ts";
import { noteProofOfLife } from "./note-proof-of-life.ts";
import { planPool, planUnseen, type PoolStep, type PoolView } from "./plan-pool.ts";
import { readPools, type PoolRows, type PoolSession } from "./read-pools.ts";
import { severalAtOnce } from "./several-at-once.ts";
import { createSweep } from "./sweep.ts";
import { launch, takeStep, type Launch, type SendStop, type StepContext } from "./take-step.ts";
import type { Wakeups } from "../pools/wakeups.ts";

/** Brings what is there in line with what is written, again and again. Events only hasten it. */
export interface Reconciler {
  /** One look at everything. Rejects only when another controller leads. */
  pass(): Promise<void>;
  /** Do not wait for the next round. */
  nudge(): void;
  /** Nothing new is made from now on: the service is shutting down for good. */
  stopMaking(): void;
  /** Resolves when nothing is being made. */
  madeAll(): Promise<void>;
  /** Passes until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ReconcilerOptions {
  world: World;
  deploying: Deploying;
  redact: StepContext["redact"];
  wakeups: Wakeups;
  /** How many instances of one agent may be on their way up at once. */
  bootsAtOnce: number;
  /** Reads the last output of an object before it is forgotten. */
  beforeForget?(instanceId: string): Promise<void>;
  /** After every pass, with the rows it saw. */
  passed?(pools: PoolRows[], reports: ReadonlyMap<string, InstanceReport>): Promise<void>;
  /** Told how long each pass took. */
  took?(seconds: number): void;
  filterDone?: StepContext["filterDone"];
  /** Told of each pass that failed, and of each step or part of one. */
  failed?(what: string): void;
}

const NUDGE = "nudge";
const MADE_AT_ONCE = 16; // of all agents, by whatever makes them; how many load at once is for `BootSlots` to say
const AGENTS_AT_ONCE = 8; // one whose records are slow to read does not hold up hundreds; the store serves starts too

interface Looked {
  seen: ReadonlyMap<string, SeenInstance>;
  /** Whether the driver cannot list what is there. */
  isAway(where: { region?: string | undefined }): boolean;
}

interface Plan {
  view: PoolView;
  steps: PoolStep[];
}

interface ToBeMade {
  step: Launch;
  instance: InstanceRow;
  region: string;
}

/** Steps after which it is for the world to answer; another look at once would find nothing new. */
const ORDERS: ReadonlySet<PoolStep["do"]> = new Set(["destroy", "send-stop", "pause", "wake"]);

export function createReconciler(options: ReconcilerOptions): Reconciler {
  const { world, deploying, wakeups } = options;
  const beingMade = new Map<string, { instance: InstanceRow; made: Promise<void> }>();
  const beingDestroyed = new Set<string>();
  const beingStopped = new Set<string>();
  const beingTurned = new Set<string>();
  const stoppingSinceMs = new Map<string, number>();
  const startingSinceMs = new Map<string, number>();
  const lastWords = new Map<string, InstanceReport>();
  let nudged = false;
  let isMaking = true;
  let toBeMade: ToBeMade[] = [];
  const slots = new BootSlots({ coresIn: (region) => driverIn(world.driver, region).cores });

  function nudge(): void {
    nudged = true;
    wakeups.wake(NUDGE);
  }

  /** Those that the last plan wants and that have a place; the next one need not wait for another look at everything. */
  function makeNext(): void {
    if (!isMaking) return;
    for (const [region, waiting] of Map.groupBy(toBeMade, (each) => each.region)) {
      const places = Math.min(MADE_AT_ONCE - beingMade.size, slots.left(region));
      for (const next of dealBoots(waiting, { underWay: slots.holders(), places })) make(next);
    }
    toBeMade = toBeMade.filter(({ instance }) => !beingMade.has(instance.id));
  }

  function make({ step, region }: ToBeMade): void {
    const { instance } = step;
    const { id } = instance;
    if (beingMade.has(id)) return;
    slots.begin(instance, { region, monotonicMs: world.clock.monotonicMs() });
    const made = launch(step, context)
      .then(nudge, (error: unknown) => {
        slots.end(id);
        if (error instanceof LeadershipLostError) {
          toBeMade = []; // the next pass, or whoever keeps the lease, finds out
          return;
        }
        options.failed?.(step.do);
        world.log.error({ err: error, step: step.do, instanceId: id }, "step failed, will be retried");
      })
      .finally(() => {
        beingMade.delete(id);
        makeNext();
      });
    beingMade.set(id, { instance, made });
  }

  function destroy(instanceId: string, graceMs: number): void {
    if (beingDestroyed.has(instanceId)) return;
    beingDestroyed.add(instanceId);
    void world.driver
      .destroy(instanceId, { graceMs })
      .finally(() => beingDestroyed.delete(instanceId))
      // One that cannot be ended is tried again at the next look, which need not come any sooner.
      .then(nudge, (error: unknown) =>
        world.log.warn({ err: error, instanceId }, "instance could not be ended"),
      );
  }

  function sendStop({ session, address, reason }: SendStop): void {
    const { id: sessionId, instanceId } = session;
    if (instanceId === null || beingStopped.has(sessionId)) return;
    beingStopped.add(sessionId);
    const { epoch } = world;
    void world.network
      .stop({ id: instanceId, address }, { epoch, sessionId, reason })
      .catch((error: unknown) =>
        world.log.debug({ err: error, sessionId }, "stop did not reach the instance"),
      )
      .finally(() => beingStopped.delete(sessionId));
  }

  function turn({ id }: InstanceRow, to: "pause" | "wake"): void {
    if (beingTurned.has(id)) return;
    beingTurned.add(id);
    void (to === "pause" ? pauseIfFree(id, world) : world.driver.wake?.(id))
      ?.then(nudge)
      .catch((error: unknown) =>
        world.log.warn({ err: error, instanceId: id, to }, "instance was not turned"),
      )
      .finally(() => beingTurned.delete(id));
  }

  const { redact, filterDone } = options;
  const context: StepContext = {
    ...{ world, deploying, redact, wakeups, filterDone },
    ...{ destroy, sendStop, turn },
  };
  const sweep = createSweep({
    world,
    destroy,
    isBeingDestroyed: (id) => beingDestroyed.has(id),
    beforeForget: options.beforeForget,
  });

  async function pass(): Promise<void> {
    const startedMs = world.clock.monotonicMs();
    try {
      await lookAtEverything();
    } catch (error) {
      options.failed?.("pass");
      throw error;
    } finally {
      options.took?.((world.clock.monotonicMs() - startedMs) / 1_000);
    }
  }

  async function lookAtEverything(): Promise<void> {
    const pools = await readPools(world.store.db, {
      nowMs: world.clock.nowMs(),
      demandMs: world.timing.demandMs,
      quotasOf: world.quotasOf,
    });
    const listedAtMs = world.clock.monotonicMs(); // whatever is listed was there at this moment, however late we hear it
    const { objects, away: whyAway } = await look(world);
    const seen = new Map(objects.map((object) => [object.id, object]));
    const awayIn = world.driver.regional?.away() ?? new Set();
    const isAway = ({ region }: { region?: string | undefined }): boolean =>
      whyAway !== undefined || awayIn.has(region ?? "");
    world.network.watch(targetsOf(pools, { seen, isAway }));
    const reports = reportsOf(pools, world);
    keepLastWords(pools, reports, lastWords);
    const missed = missedBy(pools, world);
    noteLastSeen(pools, { seen, reports, missed, world, listedAtMs });
    const isStopping = ({ state }: PoolSession): boolean => state === "stopping";
    const isStarting = ({ state }: PoolSession | InstanceRow): boolean => state === "starting";
    noteSince(
      stoppingSinceMs,
      pools.flatMap(({ sessions }) => sessions.filter(isStopping)),
      world,
    );
    noteSince(
      startingSinceMs,
      pools.flatMap(({ sessions, instances }) => [...sessions, ...instances].filter(isStarting)),
      world,
    );
    const looked = {
      ...{ seen, beingMade: new Set(beingMade.keys()), reports, missed, stoppingSinceMs, startingSinceMs },
      ...{ world, bootsAtOnce: options.bootsAtOnce },
    };
    const plans: Plan[] = [];
    for (const rows of pools)
      await ofAgent(rows.agent, async () => {
        const view = viewOf(rows, looked);
        plans.push({ view, steps: isAway(rows.agent) ? planUnseen(view) : planPool(view) });
      });
    // Before anything else of the pass: somebody may be waiting for one of them.
    toBeMade = plans.flatMap(({ view, steps }) =>
      steps.flatMap((step) =>
        step.do === "launch" ? [{ step, instance: step.instance, region: view.agent.region }] : [],
      ),
    );
    slots.look({ pools, seen, beingMade, monotonicMs: world.clock.monotonicMs() });
    makeNext();
    await severalAtOnce(plans, {
      atOnce: AGENTS_AT_ONCE,
      each: (plan) => ofAgent(plan.view.agent, () => takeSteps(plan)),
    });
    world.driver.inUse?.(inUse(pools));
    await apart({}, "proof of life could not be noted", () => noteProofOfLife(pools, reports, world));
    const live = new Set(pools.flatMap(({ instances }) => instances.map(({ id }) => id)));
    if (!whyAway) await forgetOthers(live, { seen, isAway });
    await apart({}, "what follows a pass failed", async () => options.passed?.(pools, reports));
    if (whyAway) throw whyAway;
  }

  /** Rows are written before objects are made, so none that has no row is about to be needed. */
  async function forgetOthers(live: Set<string>, { seen, isAway }: Looked): Promise<void> {
    await sweep(live, new Map([...seen].filter(([, object]) => !isAway(object))));
    await apart({}, "records of former instances could not be removed", async () =>
      world.records.keepOnly?.(new Set([...live, ...seen.keys()])),
    );
  }

  async function takeSteps({ view, steps }: Plan): Promise<void> {
    for (const step of steps) {
      if (step.do === "launch" || (!isMaking && step.do === "request-instance")) continue;
      await apart({ step: step.do, agent: view.agent.name }, "step failed, will be retried", async () => {
        const outcome = await takeStep(step, view, context);
        if (outcome !== "waiting" && !ORDERS.has(step.do)) nudge(); // a row has changed; what follows from it need not wait
      });
    }
  }

  function ofAgent({ name }: AgentRow, run: () => Promise<void>): Promise<void> {
    return apart({ agent: name }, "agent could not be looked after, will be retried", run);
  }

  /** One agent's failure is not another's. */
  async function apart(
    about: { step?: string; agent?: string },
    sentence: string,
    run: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (error instanceof LeadershipLostError) throw error;
      options.failed?.(about.step ?? (about.agent === undefined ? "aftermath" : "agent"));
      world.log.error({ err: error, ...about }, sentence);
    }
  }

  return {
    pass,
    nudge,
    stopMaking: () => void (isMaking = false),
    async madeAll() {
      await Promise.all([...beingMade.values()].map(({ made }) => made));
    },
    async run(signal) {
      signal.addEventListener("abort", nudge, { once: true });
      let complaint = ""; // what is away stays away for many passes, and is worth one line
      while (!signal.aborted) {
        nudged = false;
        try {
          await pass();
          if (complaint !== "") world.log.info({}, "reconciling works again");
          complaint = "";
        } catch (error) {
          if (error instanceof LeadershipLostError) throw error;
          if (String(error) !== complaint)
            world.log.error({ err: error }, "reconciling failed, will be retried");
          complaint = String(error);
        }
        if (!nudged && !signal.aborted) await wakeups.wait(NUDGE, world.timing.reconcileMs);
      }
    },
  };
}

/** Lists the objects, or returns why that failed: what needs no driver goes on all the same. */
async function look({ driver }: World): Promise<{ objects: SeenInstance[]; away?: DriverUnavailableError }> {
  try {
    return { objects: await driver.list() };
  } catch (error) {
    if (!(error instanceof DriverUnavailableError)) throw error;
    return { objects: [], away: error };
  }
}

/** Those with a session, and those that one is about to have. */
function inUse(pools: PoolRows[]): Set<string> {
  const instances = pools.flatMap((rows) => rows.instances);
  return new Set(
    instances.filter(({ state, sessionId }) => state === "busy" || sessionId !== null).map(({ id }) => id),
  );
}

/** Only while nobody asked them to stop: what a bot takes for that is not its session's length. */
function noteLastSeen(
  pools: PoolRows[],
  options: Pick<ViewOptions, "seen" | "reports" | "missed" | "world"> & { listedAtMs: number },
): void {
  const { seen, reports, missed, world, listedAtMs } = options;
  const sessions = pools.flatMap((rows) => rows.sessions);
  world.lastSeen.keepOnly(new Set(sessions.map(({ id }) => id)));
  for (const session of sessions) {
    const id = session.instanceId ?? "";
    const isOn = seen.get(id)?.state === "running" && !missed.has(id);
    const told = reports.get(id)?.status.session;
    const hasEnded = told?.sessionId === session.id && told.exit !== null;
    if (session.state === "active" && isOn && !hasEnded) world.lastSeen.alive(session, listedAtMs);
  }
}

interface ViewOptions {
  seen: ReadonlyMap<string, SeenInstance>;
  beingMade: ReadonlySet<string>;
  reports: ReadonlyMap<string, InstanceReport>;
  missed: ReadonlyMap<string, number>;
  stoppingSinceMs: ReadonlyMap<string, number>;
  startingSinceMs: ReadonlyMap<string, number>;
  world: World;
  bootsAtOnce: number;
}

function viewOf(
  rows: PoolRows,
  { seen, beingMade, reports, missed, stoppingSinceMs, startingSinceMs, world, bootsAtOnce }: ViewOptions,
): PoolView {
  const monotonicMs = world.clock.monotonicMs();
  const own = [...rows.sessions, ...rows.instances];
  const forMs = (since: ReadonlyMap<string, number>): Map<string, number> =>
    new Map(
      own.flatMap(({ id }) => {
        const sinceMs = since.get(id);
        return sinceMs === undefined ? [] : [[id, monotonicMs - sinceMs] as const];
      }),
    );
  return {
    ...rows,
    seen,
    beingMade,
    reports,
    missed,
    stoppingForMs: forMs(stoppingSinceMs),
    startingForMs: forMs(startingSinceMs),
    lastedMs: new Map(rows.sessions.map((row) => [row.id, world.lastSeen.atLeastMs(row) ?? 0])),
    nowMs: world.clock.nowMs(),
    epoch: world.epoch,
    timing: world.timing,
    bootsAtOnce,
    keptAwake: driverIn(world.driver, rows.agent.region).pause ? world.keptAwake : undefined,
  };
}

/** A session may come for it at any moment, and then wakes what it finds paused; it must not be paused after that. */
async function pauseIfFree(id: string, { driver, store }: World): Promise<void> {
  await driver.pause?.(id);
  const row = await store.db
    .selectFrom("instances")
    .select(["state", "sessionId"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (row?.state !== "ready" || row.sessionId !== null) await driver.wake?.(id);
}

function targetsOf(pools: PoolRows[], { seen, isAway }: Looked): { id: string; address: string }[] {
  return pools.flatMap(({ agent, instances }) =>
    instances.flatMap(({ id, address }) => {
      const object = seen.get(id);
      const known = object?.address ?? address;
      const runs = object ? object.state === "running" : isAway(agent);
      const isAwake = runs && !object?.isPaused; // others have nothing to say
      return isAwake && known ? [{ id, address: known }] : [];
    }),
  );
}

function reportsOf(pools: PoolRows[], world: World): Map<string, InstanceReport> {
  return new Map(
    pools
      .flatMap(({ instances }) => instances)
      .flatMap(({ id }) => {
        const report = world.network.report(id);
        return report ? [[id, report] as const] : [];
      }),
  );
}

// An end that could not be written down while its instance was still there is not forgotten with it.
function keepLastWords(
  pools: PoolRows[],
  reports: Map<string, InstanceReport>,
  lastWords: Map<string, InstanceReport>,
): void {
  const live = new Set(pools.flatMap(({ instances }) => instances.map(({ id }) => id)));
  for (const id of lastWords.keys()) if (!live.has(id)) lastWords.delete(id);
  for (const [id, report] of reports) if (report.status.session?.exit) lastWords.set(id, report);
  for (const [id, report] of lastWords) if (!reports.has(id)) reports.set(id, report);
}

function missedBy(pools: PoolRows[], world: World): Map<string, number> {
  return new Map(
    pools
      .flatMap(({ instances }) => instances)
      .flatMap(({ id }) => {
        const missed = world.network.missed(id);
        return missed > 0 ? [[id, missed] as const] : [];
      }),
  );
}

// On our monotonic clock, from when we first saw it: the wall clock may be set meanwhile.
function noteSince(since: Map<string, number>, rows: { id: string }[], world: World): void {
  const ids = new Set(rows.map(({ id }) => id));
  for (const id of since.keys()) if (!ids.has(id)) since.delete(id);
  for (const id of ids) if (!since.has(id)) since.set(id, world.clock.monotonicMs());
}
