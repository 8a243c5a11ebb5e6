import type { Log } from "@vocalhost/base/log";
import {
  DriverUnavailableError,
  type Driver,
  type DriverCapabilities,
  type InstanceSource,
  type InstanceSpec,
  type OpenedDriver,
  type PreparedSource,
  type PrepareOptions,
  type RegionalSide,
  type SeenInstance,
} from "./driver.ts";
import type { InstanceRecords } from "./instance-records.ts";
import { Region } from "./regional/region.ts";

/** A region with a driver of its own. */
export interface RegionOptions {
  code: string;
  /** Needed before the driver could be opened. */
  runs: DriverCapabilities["runs"];
  open(): Promise<OpenedDriver>;
}

export interface RegionalDriverOptions {
  regions: readonly RegionOptions[];
  log: Log;
  /** @default 5 s */
  retryMs?: number;
}

/**
 * Opens one driver that stands for one in each region. A region that cannot be reached does not hold up the others:
 * `away` names it, and `list` goes on with what was last seen of it.
 */
export async function openRegionalDriver(options: RegionalDriverOptions): Promise<OpenedDriver> {
  const driver = new RegionalDriver(options);
  await openAll(driver.regions);
  return {
    driver,
    records: recordsOf(driver),
    imagesIn: (code) => driver.regionOf(code).images(),
    [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
  };
}

class RegionalDriver implements Driver, AsyncDisposable {
  readonly capabilities: DriverCapabilities;
  readonly regional: RegionalSide;
  readonly regions: readonly Region[];
  readonly #homes = new Map<string, Region>(); // of instances, by id
  readonly #listeners = new Set<() => void>();

  constructor({ regions, log, retryMs }: RegionalDriverOptions) {
    const changed = (): void => {
      for (const listener of this.#listeners) listener();
    };
    this.regions = regions.map((each) => new Region(each, { log, changed, retryMs }));
    this.capabilities = {
      runs: [...new Set(regions.flatMap(({ runs }) => runs))],
      ...{ cpuLimit: false, memoryLimit: false, isolation: "none" },
    };
    this.regional = {
      codes: this.regions.map(({ code }) => code),
      in: (code) => this.regionOf(code).driver,
      away: () => new Set(this.regions.flatMap(({ code, isAway }) => (isAway ? [code] : []))),
    };
  }

  regionOf(code: string | undefined): Region {
    const region = this.regions.find((each) => each.code === code);
    if (!region) throw new Error(`No region '${code}' is configured`);
    return region;
  }

  /** Returns the regions that an instance may be in. */
  placesOf(id: string): readonly Region[] {
    const home = this.#homes.get(id);
    return home ? [home] : this.regions;
  }

  async fence(epoch: number): Promise<void> {
    await Promise.all(this.regions.map((region) => region.fence(epoch)));
  }

  async newestEpoch(): Promise<number> {
    const drivers = this.regions.flatMap(({ opened }) => opened?.driver ?? []);
    return Math.max(0, ...(await Promise.all(drivers.map((each) => each.newestEpoch()))));
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async prepare(source: InstanceSource, options: PrepareOptions): Promise<PreparedSource> {
    const { driver } = this.regionOf(options.region);
    if (!driver.prepare) throw new Error("This driver prepares nothing");
    return driver.prepare(source, options);
  }

  async create(spec: InstanceSpec): Promise<void> {
    const region = this.regionOf(spec.region);
    this.#homes.set(spec.id, region);
    await region.reached().driver.create(spec);
  }

  async list(): Promise<SeenInstance[]> {
    return (await Promise.all(this.regions.map((region) => this.#listIn(region)))).flat();
  }

  destroy(id: string, options: { graceMs: number }): Promise<void> {
    return this.#atHome(id, (driver) => driver.destroy(id, options));
  }

  pause(id: string): Promise<void> {
    return this.#atHome(id, (driver) => driver.pause?.(id));
  }

  wake(id: string): Promise<void> {
    return this.#atHome(id, (driver) => driver.wake?.(id));
  }

  inUse(ids: ReadonlySet<string>): void {
    for (const { opened } of this.regions) opened?.driver.inUse?.(ids);
  }

  async forget(id: string): Promise<void> {
    await this.#atHome(id, (driver) => driver.forget(id));
    this.#homes.delete(id);
  }

  async forgetAgent(agentId: string): Promise<void> {
    await Promise.all(this.regions.map(async ({ opened }) => opened?.driver.forgetAgent?.(agentId)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    await Promise.all(this.regions.map((region) => region[Symbol.asyncDispose]()));
  }

  /** Also calls drivers of regions that are away: not every call needs to reach them. */
  async #atHome(id: string, work: (driver: Driver) => Promise<void> | undefined): Promise<void> {
    for (const region of this.placesOf(id)) await work(region.driver);
  }

  async #listIn(region: Region): Promise<SeenInstance[]> {
    const seen = (await region.list()).map((each) => ({ ...each, region: region.code }));
    for (const { id } of seen) this.#homes.set(id, region);
    return seen;
  }
}

/** Rejects only if no region can be opened. */
async function openAll(regions: readonly Region[]): Promise<void> {
  const outcomes = await Promise.allSettled(regions.map((region) => region.open()));
  const failures = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
  if (failures.length < regions.length) return;
  await Promise.all(regions.map((region) => region[Symbol.asyncDispose]()));
  throw failures[0];
}

function recordsOf(driver: RegionalDriver): InstanceRecords {
  const near = (id: string): InstanceRecords[] =>
    driver.placesOf(id).flatMap(({ opened }) => opened?.records ?? []);
  const required = (id: string): InstanceRecords => {
    const [records] = near(id);
    if (records) return records;
    throw new DriverUnavailableError(`What instance ${id} left behind cannot be reached`);
  };
  return {
    async exitRecord(id, sessionId) {
      for (const records of near(id)) {
        const found = await records.exitRecord(id, sessionId);
        if (found) return found;
      }
      return undefined;
    },
    async aliveRecord(id) {
      for (const records of near(id)) {
        const found = await records.aliveRecord(id);
        if (found) return found;
      }
      return undefined;
    },
    output: async (id, position) => required(id).output(id, position),
    async makeSpace() {
      const records = driver.regions.flatMap(({ opened }) => opened?.records ?? []);
      const freed = await Promise.all(records.map((each) => each.makeSpace().catch(() => 0)));
      return freed.reduce((sum, bytes) => sum + bytes, 0);
    },
    async remove(id) {
      for (const records of near(id)) await records.remove(id);
    },
    async keepOnly(ids) {
      for (const { opened } of driver.regions) await opened?.records.keepOnly?.(ids);
    },
  };
}
