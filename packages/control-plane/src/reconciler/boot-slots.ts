import type { SeenInstance } from "@vocalhost/drivers/driver";
import type { InstanceRow } from "@vocalhost/store/schema";

/** The most instances that an idle machine boots at once; more would not be ready any sooner. */
const SLOTS_MAX = 16;
/** An instance that boots longer than this with the processor waits for something else or hangs, and gives its slot back. */
const HOLDS_MS = 10_000;
/** The same however long it waits for the processor: a bot can starve its own main thread. */
const HOLDS_LONGEST_MS = 60_000;
/** Where the wait for the processor is unknown, a longer boot means that the machine is overloaded. */
const CROWDED_MS = 5_000;

export interface BootSlotsOptions {
  /** Processors of the machine that a region's driver uses; undefined where a cluster chooses the machine. */
  coresIn(region: string): number | undefined;
}

interface Loading {
  instance: InstanceRow;
  region: string;
  sinceMs: number;
  isHolding: boolean;
}

/** The rows and objects of one pass. */
export interface BootsSeen {
  pools: readonly { agent: { region: string }; instances: readonly InstanceRow[] }[];
  seen: ReadonlyMap<string, SeenInstance>;
  beingMade: ReadonlyMap<string, unknown>;
  monotonicMs: number;
}

/**
 * Decides how many instances boot at once on a machine: at least one a core, and more while recent boots hardly waited
 * for the processor. Booting more than that makes every one of them late.
 */
export class BootSlots {
  readonly #options: BootSlotsOptions;
  readonly #loading = new Map<string, Loading>();
  readonly #slots = new Map<string, number>();

  constructor(options: BootSlotsOptions) {
    this.#options = options;
  }

  begin(instance: InstanceRow, { region, monotonicMs }: { region: string; monotonicMs: number }): void {
    this.#loading.set(instance.id, { instance, region, sinceMs: monotonicMs, isHolding: true });
  }

  /** Gives the slot of an instance back that could not be made. */
  end(id: string): void {
    this.#loading.delete(id);
  }

  /** Returns the instances that hold a slot. */
  holders(): InstanceRow[] {
    return [...this.#loading.values()].flatMap(({ instance, isHolding }) => (isHolding ? [instance] : []));
  }

  left(region: string): number {
    const cores = this.#options.coresIn(region);
    if (cores === undefined) return Infinity;
    const held = [...this.#loading.values()].filter((each) => each.region === region && each.isHolding);
    return (this.#slots.get(region) ?? cores) - held.length;
  }

  /** Gives back the slots of instances that are ready or gone, and adapts the number of slots to how long boots take. */
  look({ pools, seen, beingMade, monotonicMs }: BootsSeen): void {
    const rows = new Map<string, InstanceRow>();
    for (const { agent, instances } of pools)
      for (const row of instances) {
        rows.set(row.id, row);
        // An earlier controller made it.
        const isNews = row.state === "starting" && !this.#loading.has(row.id);
        if (isNews && seen.get(row.id)?.state === "running")
          this.begin(row, { region: agent.region, monotonicMs });
      }
    for (const [id, loading] of this.#loading) {
      const isBeingMade = beingMade.has(id);
      const state = rows.get(id)?.state;
      const object = seen.get(id);
      const boot = { tookMs: monotonicMs - loading.sinceMs, starvedMs: object?.starvedMs };
      if (!isBeingMade && (state === "ready" || state === "busy")) this.#learn(loading, boot);
      // Rows are read before objects are listed, so one may be made meanwhile whose row says that it is yet to be.
      const isMade = state === "requested" || (state === "starting" && object?.state === "running");
      const isLoading = isBeingMade || isMade;
      if (!isLoading) this.#loading.delete(id);
      else {
        const hadMs = boot.tookMs - (boot.starvedMs ?? 0);
        loading.isHolding = hadMs < HOLDS_MS && boot.tookMs < HOLDS_LONGEST_MS;
      }
    }
  }

  #learn({ region }: Loading, boot: Boot): void {
    const cores = this.#options.coresIn(region);
    if (cores !== undefined)
      this.#slots.set(region, slotsAfter(boot, { cores, slots: this.#slots.get(region) }));
  }
}

export interface Boot {
  tookMs: number;
  starvedMs: number | undefined;
}

/** Returns the number of slots after a boot. */
export function slotsAfter(
  { tookMs, starvedMs }: Boot,
  { cores, slots = cores }: { cores: number; slots: number | undefined },
): number {
  const isCrowded = starvedMs === undefined ? tookMs > CROWDED_MS : starvedMs > tookMs / 2;
  return isCrowded ? Math.max(cores, slots - 1) : Math.max(cores, Math.min(SLOTS_MAX, slots + 1));
}
