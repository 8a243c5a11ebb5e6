import type { Log } from "@vocalhost/base/log";
import {
  DriverUnavailableError,
  type Driver,
  type DriverCapabilities,
  type OpenedDriver,
  type SeenInstance,
} from "./driver.ts";
import type { InstanceRecords } from "./instance-records.ts";
import { createRegion, type Region } from "./regional/region.ts";

/** A region whose instances are made in a way of its own. */
export interface RegionOptions {
  code: string;
  /** Known before it could be opened. */
  runs: DriverCapabilities["runs"];
  open(): Promise<OpenedDriver>;
}

/**
 * One driver of several, each for a region. One that cannot be reached keeps the others from nothing: it is told by
 * `away`, and what was last seen of it is what is listed.
 */
export async function openRegionalDriver(options: {
  regions: readonly RegionOptions[];
  log: Log;
  /** @default 5 s */
  retryMs?: number;
}): Promise<OpenedDriver> {
  const { log, retryMs } = options;
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const regions = new Map<string, Region>(
    options.regions.map((each) => [each.code, createRegion(each, { log, changed, retryMs })]),
  );
  const all = [...regions.values()];
  const homes = new Map<string, Region>(); // of instances, by id

  function regionOf(code: string | undefined): Region {
    const region = regions.get(code ?? "");
    if (!region) throw new Error(`No region '${code}' is configured`);
    return region;
  }

  /** Where an instance is, or may be. Also while that is away: not everything needs to reach it. */
  async function atHome(id: string, work: (driver: Driver) => Promise<void> | undefined): Promise<void> {
    const home = homes.get(id);
    for (const region of home ? [home] : all) await work(region.driver);
  }

  async function list(region: Region): Promise<SeenInstance[]> {
    const seen = (await region.list()).map((each) => ({ ...each, region: region.code }));
    for (const { id } of seen) homes.set(id, region);
    return seen;
  }

  const driver: Driver = {
    capabilities: {
      runs: [...new Set(options.regions.flatMap(({ runs }) => runs))],
      ...{ cpuLimit: false, memoryLimit: false, isolation: "none" },
    },
    regional: {
      codes: [...regions.keys()],
      in: (code) => regionOf(code).driver,
      away: () => new Set(all.flatMap(({ code, isAway }) => (isAway() ? [code] : []))),
    },
    async fence(epoch) {
      await Promise.all(all.map((region) => region.fence(epoch)));
    },
    async newestEpoch() {
      const drivers = all.flatMap((region) => region.opened()?.driver ?? []);
      return Math.max(0, ...(await Promise.all(drivers.map((each) => each.newestEpoch()))));
    },
    onChange: (listener) => void listeners.add(listener),
    prepare(source, prepare) {
      const { driver: near } = regionOf(prepare.region);
      if (!near.prepare) throw new Error("This driver prepares nothing");
      return near.prepare(source, prepare);
    },
    async create(spec) {
      const region = regionOf(spec.region);
      homes.set(spec.id, region);
      await region.reached().driver.create(spec);
    },
    list: async () => (await Promise.all(all.map(list))).flat(),
    destroy: (id, how) => atHome(id, (each) => each.destroy(id, how)),
    pause: (id) => atHome(id, (each) => each.pause?.(id)),
    wake: (id) => atHome(id, (each) => each.wake?.(id)),
    inUse(ids) {
      for (const region of all) region.opened()?.driver.inUse?.(ids);
    },
    async forget(id) {
      await atHome(id, (each) => each.forget(id));
      homes.delete(id);
    },
    async forgetAgent(agentId) {
      await Promise.all(all.map(async (region) => region.opened()?.driver.forgetAgent?.(agentId)));
    },
  };

  await openAll(all);
  return {
    driver,
    records: recordsOf(all, homes),
    imagesIn: (code) => regionOf(code).images(),
    async [Symbol.asyncDispose]() {
      listeners.clear();
      await Promise.all(all.map((region) => region[Symbol.asyncDispose]()));
    },
  };
}

/** Where none of them can be, neither can the service. */
async function openAll(regions: Region[]): Promise<void> {
  const outcomes = await Promise.allSettled(regions.map((region) => region.open()));
  const failures = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
  if (failures.length < regions.length) return;
  await Promise.all(regions.map((region) => region[Symbol.asyncDispose]()));
  throw failures[0];
}

function recordsOf(regions: Region[], homes: ReadonlyMap<string, Region>): InstanceRecords {
  const near = (id: string): InstanceRecords[] => {
    const home = homes.get(id);
    return (home ? [home] : regions).flatMap((region) => region.opened()?.records ?? []);
  };
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
      const records = regions.flatMap((region) => region.opened()?.records ?? []);
      const freed = await Promise.all(records.map((each) => each.makeSpace().catch(() => 0)));
      return freed.reduce((sum, bytes) => sum + bytes, 0);
    },
    async remove(id) {
      for (const records of near(id)) await records.remove(id);
    },
    async keepOnly(ids) {
      for (const region of regions) await region.opened()?.records.keepOnly?.(ids);
    },
  };
}
