import { driverIn, type SeenInstance } from "@vocalhost/drivers/driver";
import { LeadershipLostError } from "@vocalhost/store/leadership/leader";
import type { InstanceRow } from "@vocalhost/store/schema";
import { dealBoots } from "../pools/deal-boots.ts";
import { BootSlots } from "./boot-slots.ts";
import { launch } from "./instance-steps.ts";
import type { PoolStep, PoolView } from "./plan-pool.ts";
import type { PoolRows } from "./read-pools.ts";
import type { Launch, StepContext } from "./take-step.ts";

const MADE_AT_ONCE = 16; // of all agents, by the drivers; `BootSlots` says how many boot at once

interface WaitingLaunch {
  step: Launch;
  instance: InstanceRow;
  region: string;
}

export interface LauncherOptions {
  context: StepContext;
  nudge(): void;
  /** Told of each launch that failed. */
  failed?: ((what: string) => void) | undefined;
}

/** Launches what the last plan wants, dealt fairly among all agents, as many at once as the machine has time for. */
export class Launcher {
  readonly #options: LauncherOptions;
  readonly #slots: BootSlots;
  readonly #launching = new Map<string, Promise<void>>();
  #waiting: WaitingLaunch[] = [];
  #isStopped = false;

  constructor(options: LauncherOptions) {
    this.#options = options;
    const { driver } = options.context.world;
    this.#slots = new BootSlots({ coresIn: (region) => driverIn(driver, region).cores });
  }

  /** The instances that the driver is making at this moment. */
  get beingMade(): ReadonlySet<string> {
    return new Set(this.#launching.keys());
  }

  /** Replaces what waits by what the newest plans want, and launches what has a place. */
  take(
    plans: readonly { view: PoolView; steps: readonly PoolStep[] }[],
    { pools, seen }: { pools: readonly PoolRows[]; seen: ReadonlyMap<string, SeenInstance> },
  ): void {
    this.#waiting = plans.flatMap(({ view, steps }) =>
      steps.flatMap((step) =>
        step.do === "launch" ? [{ step, instance: step.instance, region: view.agent.region }] : [],
      ),
    );
    const monotonicMs = this.#options.context.world.clock.monotonicMs();
    this.#slots.look({ pools, seen, beingMade: this.#launching, monotonicMs });
    this.#launchNext();
  }

  /** Launches nothing from now on. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Resolves when nothing is being made. */
  async settled(): Promise<void> {
    await Promise.all(this.#launching.values());
  }

  #launchNext(): void {
    if (this.#isStopped) return;
    for (const [region, waiting] of Map.groupBy(this.#waiting, (each) => each.region)) {
      const places = Math.min(MADE_AT_ONCE - this.#launching.size, this.#slots.left(region));
      for (const next of dealBoots(waiting, { underWay: this.#slots.holders(), places })) this.#launch(next);
    }
    this.#waiting = this.#waiting.filter(({ instance }) => !this.#launching.has(instance.id));
  }

  #launch({ step, instance, region }: WaitingLaunch): void {
    const { context, nudge } = this.#options;
    const { id } = instance;
    if (this.#launching.has(id)) return;
    this.#slots.begin(instance, { region, monotonicMs: context.world.clock.monotonicMs() });
    const launching = launch(step, context)
      .then(nudge, (error: unknown) => this.#fail(id, error))
      .finally(() => {
        this.#launching.delete(id);
        this.#launchNext(); // which need not wait for another pass
      });
    this.#launching.set(id, launching);
  }

  #fail(instanceId: string, error: unknown): void {
    this.#slots.end(instanceId);
    if (error instanceof LeadershipLostError) {
      this.#waiting = []; // the next pass finds out too
      return;
    }
    this.#options.failed?.("launch");
    const { log } = this.#options.context.world;
    log.error({ err: error, step: "launch", instanceId }, "step failed, will be retried");
  }
}
