import type { SeenInstance } from "@vocalhost/drivers/driver";
import { LeadershipLostError } from "@vocalhost/store/leadership/leader";
import type { AgentRow } from "@vocalhost/store/schema";
import type { InstanceReport } from "../pools/instances/instance-network.ts";
import { Launcher } from "./launcher.ts";
import { noteProofOfLife } from "./note-proof-of-life.ts";
import { Observer, type Observation } from "./observe.ts";
import { Orders } from "./orders.ts";
import { planPool, planUnseen, type PoolStep, type PoolView } from "./plan-pool.ts";
import { readPools, type PoolRows } from "./read-pools.ts";
import { severalAtOnce } from "./several-at-once.ts";
import { createSweep } from "./sweep.ts";
import { takeStep, type StepContext } from "./take-step.ts";

export interface ReconcilerOptions extends StepContext {
  /** How many instances of one agent may boot at once. */
  bootsAtOnce: number;
  /** Reads the last output of an object before it is forgotten. */
  beforeForget?(instanceId: string): Promise<void>;
  /** Called after every pass, with the rows it read. */
  passed?(pools: PoolRows[], reports: ReadonlyMap<string, InstanceReport>): Promise<void>;
  /** Called with the length of each pass. */
  took?(seconds: number): void;
  /** Called for each pass that failed, and for each step or part of one. */
  failed?(what: string): void;
}

interface Plan {
  view: PoolView;
  steps: PoolStep[];
}

const NUDGE = "nudge";
const AGENTS_AT_ONCE = 8; // an agent whose records are slow to read holds up few others; the store serves starts too

/** Brings what runs in line with what is written, again and again. Events only hasten it. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #observer: Observer;
  readonly #orders: Orders;
  readonly #launcher: Launcher;
  readonly #sweep: ReturnType<typeof createSweep>;
  #isNudged = false;
  #isMaking = true;

  constructor(options: ReconcilerOptions) {
    const { world, failed, beforeForget } = options;
    const { nudge } = this;
    this.#options = options;
    this.#observer = new Observer(world);
    this.#orders = new Orders({ world, nudge });
    this.#launcher = new Launcher({ context: options, nudge, failed });
    this.#sweep = createSweep({ world, beforeForget, orders: this.#orders });
  }

  /** Has the next pass begin at once. */
  readonly nudge = (): void => {
    this.#isNudged = true;
    this.#options.wakeups.wake(NUDGE);
  };

  /** Makes no instances from now on: the service is shutting down for good. */
  stopMaking(): void {
    this.#isMaking = false;
    this.#launcher.stop();
  }

  /** Resolves when nothing is being made. */
  readonly madeAll = (): Promise<void> => this.#launcher.settled();

  /** Makes passes until the signal aborts. Rejects only when another controller leads. */
  async run(signal: AbortSignal): Promise<void> {
    const { world, wakeups } = this.#options;
    signal.addEventListener("abort", this.nudge, { once: true });
    let complaint = ""; // a driver that is away stays away for many passes, and is worth one line
    while (!signal.aborted) {
      this.#isNudged = false;
      try {
        await this.pass();
        if (complaint !== "") world.log.info({}, "reconciling works again");
        complaint = "";
      } catch (error) {
        if (error instanceof LeadershipLostError) throw error;
        if (String(error) !== complaint)
          world.log.error({ err: error }, "reconciling failed, will be retried");
        complaint = String(error);
      }
      if (!this.#isNudged && !signal.aborted) await wakeups.wait(NUDGE, world.timing.reconcileMs);
    }
  }

  /** Looks at every agent once. */
  async pass(): Promise<void> {
    const { world, failed, took } = this.#options;
    const startedMs = world.clock.monotonicMs();
    try {
      await this.#reconcile();
    } catch (error) {
      failed?.("pass");
      throw error;
    } finally {
      took?.((world.clock.monotonicMs() - startedMs) / 1_000);
    }
  }

  async #reconcile(): Promise<void> {
    const { world, passed } = this.#options;
    const { clock, timing, quotasOf } = world;
    const pools = await readPools(world.store.db, {
      ...{ nowMs: clock.nowMs(), demandMs: timing.demandMs, quotasOf },
    });
    const observed = await this.#observer.observe(pools);
    const plans = await this.#plan(pools, observed);
    this.#launcher.take(plans, { pools, seen: observed.seen }); // first, since a session may wait for one of them
    await severalAtOnce(plans, {
      atOnce: AGENTS_AT_ONCE,
      each: (plan) => this.#ofAgent(plan.view.agent, () => this.#takeSteps(plan)),
    });
    world.driver.inUse?.(inUse(pools));
    await this.#apart({}, "proof of life could not be noted", () =>
      noteProofOfLife(pools, observed.reports, world),
    );
    if (!observed.away) await this.#forgetOthers(pools, observed);
    await this.#apart({}, "what follows a pass failed", async () => passed?.(pools, observed.reports));
    if (observed.away) throw observed.away;
  }

  async #plan(pools: readonly PoolRows[], observed: Observation): Promise<Plan[]> {
    const { beingMade } = this.#launcher;
    const { bootsAtOnce } = this.#options;
    const plans: Plan[] = [];
    for (const rows of pools)
      await this.#ofAgent(rows.agent, async () => {
        const view = this.#observer.viewOf(rows, observed, { beingMade, bootsAtOnce });
        plans.push({ view, steps: observed.isAway(rows.agent) ? planUnseen(view) : planPool(view) });
      });
    return plans;
  }

  async #takeSteps({ view, steps }: Plan): Promise<void> {
    for (const step of steps)
      await this.#apart({ step: step.do, agent: view.agent.name }, "step failed, will be retried", () =>
        this.#takeStep(step, view),
      );
  }

  async #takeStep(step: PoolStep, view: PoolView): Promise<void> {
    switch (step.do) {
      case "launch":
        return; // the launcher has it
      case "destroy":
      case "send-stop":
      case "pause":
      case "wake":
        return this.#orders.give(step); // planning again before it is obeyed would give the same
      default: {
        if (step.do === "request-instance" && !this.#isMaking) return;
        const outcome = await takeStep(step, view, this.#options);
        if (outcome === "taken") this.nudge(); // a row has changed; what follows from it need not wait
      }
    }
  }

  /** Rows are written before objects are made, so an object without a row is not about to be needed. */
  async #forgetOthers(pools: readonly PoolRows[], { seen, isAway }: Observation): Promise<void> {
    const { records } = this.#options.world;
    const live = new Set(pools.flatMap(({ instances }) => instances.map(({ id }) => id)));
    const listed = new Map<string, SeenInstance>([...seen].filter(([, object]) => !isAway(object)));
    await this.#sweep(live, listed);
    await this.#apart({}, "records of former instances could not be removed", async () =>
      records.keepOnly?.(new Set([...live, ...seen.keys()])),
    );
  }

  #ofAgent({ name }: AgentRow, run: () => Promise<void>): Promise<void> {
    return this.#apart({ agent: name }, "agent could not be looked after, will be retried", run);
  }

  /** Keeps one agent's failure from others. */
  async #apart(
    about: { step?: string; agent?: string },
    sentence: string,
    run: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (error instanceof LeadershipLostError) throw error;
      const { world, failed } = this.#options;
      failed?.(about.step ?? (about.agent === undefined ? "aftermath" : "agent"));
      world.log.error({ err: error, ...about }, sentence);
    }
  }
}

/** Returns the instances that have a session or are about to have one. */
function inUse(pools: readonly PoolRows[]): Set<string> {
  const instances = pools.flatMap((rows) => rows.instances);
  return new Set(
    instances.filter(({ state, sessionId }) => state === "busy" || sessionId !== null).map(({ id }) => id),
  );
}
