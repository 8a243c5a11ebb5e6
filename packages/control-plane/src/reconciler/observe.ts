import { DriverUnavailableError, driverIn, type SeenInstance } from "@vocalhost/drivers/driver";
import type { InstanceReport } from "../pools/instances/instance-network.ts";
import type { World } from "../sessions/world.ts";
import type { PoolView } from "./plan-pool.ts";
import type { PoolRows } from "./read-pools.ts";

/** Everything that drivers and instances reported in one pass, after the rows were read. */
export interface Observation {
  seen: ReadonlyMap<string, SeenInstance>;
  reports: ReadonlyMap<string, InstanceReport>;
  /** Heartbeats in a row that instances have missed; those that miss none are left out. */
  missed: ReadonlyMap<string, number>;
  /** Why the driver cannot list what is there; undefined if it can. */
  away: DriverUnavailableError | undefined;
  /** Whether the driver of a region cannot list what is there. */
  isAway(where: { region?: string | undefined }): boolean;
}

/** Observes instances, and remembers from pass to pass what no row says. */
export class Observer {
  readonly #world: World;
  readonly #stoppingSinceMs = new Map<string, number>();
  readonly #startingSinceMs = new Map<string, number>();
  /** An end that could not be written down while its instance was still there is not forgotten with it. */
  readonly #ends = new Map<string, InstanceReport>();

  constructor(world: World) {
    this.#world = world;
  }

  async observe(pools: readonly PoolRows[]): Promise<Observation> {
    const { clock, driver, network } = this.#world;
    const listedAtMs = clock.monotonicMs(); // whatever is listed was there at this moment, however late the list comes
    const { objects, away } = await this.#list();
    const seen = new Map(objects.map((object) => [object.id, object]));
    const awayIn = driver.regional?.away() ?? new Set();
    const isAway: Observation["isAway"] = ({ region }) => away !== undefined || awayIn.has(region ?? "");
    network.watch(targetsOf(pools, { seen, isAway }));
    const instances = pools.flatMap((rows) => rows.instances);
    const sessions = pools.flatMap((rows) => rows.sessions);
    const reports = this.#reportsOf(instances.map(({ id }) => id));
    const missed = new Map(
      instances.flatMap(({ id }) => {
        const count = network.missed(id);
        return count > 0 ? [[id, count] as const] : [];
      }),
    );
    const observation = { seen, reports, missed, away, isAway };
    this.#noteLastSeen(pools, observation, listedAtMs);
    this.#noteSince(
      this.#stoppingSinceMs,
      sessions.filter(({ state }) => state === "stopping"),
    );
    this.#noteSince(
      this.#startingSinceMs,
      [...sessions, ...instances].filter(({ state }) => state === "starting"),
    );
    return observation;
  }

  /** Returns one agent as it was observed. */
  viewOf(
    rows: PoolRows,
    { seen, reports, missed }: Observation,
    { beingMade, bootsAtOnce }: Pick<PoolView, "beingMade" | "bootsAtOnce">,
  ): PoolView {
    const { clock, driver, lastSeen, epoch, timing, keptAwake } = this.#world;
    const monotonicMs = clock.monotonicMs();
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
      ...{ seen, beingMade, reports, missed, epoch, timing, bootsAtOnce },
      stoppingForMs: forMs(this.#stoppingSinceMs),
      startingForMs: forMs(this.#startingSinceMs),
      lastedMs: new Map(rows.sessions.map((row) => [row.id, lastSeen.atLeastMs(row) ?? 0])),
      nowMs: clock.nowMs(),
      keptAwake: driverIn(driver, rows.agent.region).pause ? keptAwake : undefined,
    };
  }

  /** Lists the objects, or returns why that failed: steps that need no driver are taken all the same. */
  async #list(): Promise<{ objects: SeenInstance[]; away?: DriverUnavailableError }> {
    try {
      return { objects: await this.#world.driver.list() };
    } catch (error) {
      if (!(error instanceof DriverUnavailableError)) throw error;
      return { objects: [], away: error };
    }
  }

  #reportsOf(live: readonly string[]): Map<string, InstanceReport> {
    const reports = new Map<string, InstanceReport>();
    const ids = new Set(live);
    for (const id of this.#ends.keys()) if (!ids.has(id)) this.#ends.delete(id);
    for (const id of live) {
      const report = this.#world.network.report(id);
      if (report?.status.session?.exit) this.#ends.set(id, report);
      const known = report ?? this.#ends.get(id);
      if (known) reports.set(id, known);
    }
    return reports;
  }

  /** Only until a session is asked to stop: the time its bot takes for that is not part of its length. */
  #noteLastSeen(
    pools: readonly PoolRows[],
    { seen, reports, missed }: Observation,
    listedAtMs: number,
  ): void {
    const { lastSeen } = this.#world;
    const sessions = pools.flatMap((rows) => rows.sessions);
    lastSeen.keepOnly(new Set(sessions.map(({ id }) => id)));
    for (const session of sessions) {
      const id = session.instanceId ?? "";
      const isOn = seen.get(id)?.state === "running" && !missed.has(id);
      const told = reports.get(id)?.status.session;
      const hasEnded = told?.sessionId === session.id && told.exit !== null;
      if (session.state === "active" && isOn && !hasEnded) lastSeen.alive(session, listedAtMs);
    }
  }

  /** On our monotonic clock, from when we first saw it: the wall clock may be set meanwhile. */
  #noteSince(since: Map<string, number>, rows: { id: string }[]): void {
    const ids = new Set(rows.map(({ id }) => id));
    for (const id of since.keys()) if (!ids.has(id)) since.delete(id);
    for (const id of ids) if (!since.has(id)) since.set(id, this.#world.clock.monotonicMs());
  }
}

function targetsOf(
  pools: readonly PoolRows[],
  { seen, isAway }: Pick<Observation, "seen" | "isAway">,
): { id: string; address: string }[] {
  return pools.flatMap(({ agent, instances }) =>
    instances.flatMap(({ id, address }) => {
      const object = seen.get(id);
      const known = object?.address ?? address;
      const runs = object ? object.state === "running" : isAway(agent);
      const isAwake = runs && !object?.isPaused; // a paused one has nothing to say
      return isAwake && known ? [{ id, address: known }] : [];
    }),
  );
}
