import type { Log } from "@vocalhost/base/log";
import { DriverUnavailableError, type Driver, type OpenedDriver, type SeenInstance } from "../driver.ts";
import type { ImageBuilder } from "../image-builder.ts";
import type { RegionOptions } from "../regional.ts";

/** The driver of one region, which comes and goes. */
export interface Region extends AsyncDisposable {
  readonly code: string;
  /** Refuses with `DriverUnavailableError` while it is away. */
  readonly driver: Driver;
  open(): Promise<void>;
  opened(): OpenedDriver | undefined;
  reached(): OpenedDriver;
  isAway(): boolean;
  fence(epoch: number): Promise<void>;
  /** What is there, or while it is away what was there last. */
  list(): Promise<SeenInstance[]>;
  /** Undefined where instances are not made of images. */
  images(): ImageBuilder | undefined;
}

const RETRY_MS = 5_000;

export function createRegion(
  { code, runs, open }: RegionOptions,
  options: { log: Log; changed(): void; retryMs?: number | undefined },
): Region {
  const { changed } = options;
  const log = options.log.child({ region: code });
  const retryMs = options.retryMs ?? RETRY_MS;
  let opened: OpenedDriver | undefined;
  let epoch: number | undefined;
  let isAway = true;
  let lastSeen: SeenInstance[] = [];
  let trying: Promise<void> | undefined;
  let triedMs = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  async function openNow(): Promise<void> {
    if (opened) return;
    const made = await open();
    try {
      if (isClosed) throw new Error("The service ends");
      if (epoch !== undefined) await made.driver.fence(epoch);
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
    made.driver.onChange(changed);
    opened = made;
    isAway = false;
  }

  function lose(error: unknown): void {
    if (!isAway) log.error({ err: error }, "a region is down; the others go on");
    isAway = true;
    triedMs = performance.now();
  }

  /** Beside everything else: what hangs must not hold up the others. */
  async function tryAgain(): Promise<void> {
    try {
      await openNow();
      lastSeen = (await opened?.driver.list()) ?? [];
      isAway = false;
      log.info({}, "a region is there again");
      changed();
    } catch (error) {
      log.debug({ err: error }, "a region is still down");
      triedMs = performance.now();
    } finally {
      trying = undefined;
    }
  }

  function reached(): OpenedDriver {
    if (opened && !isAway) return opened;
    throw new DriverUnavailableError(`The region '${code}' is down`);
  }

  return {
    code,
    opened: () => opened,
    reached,
    isAway: () => isAway,
    get driver() {
      return opened?.driver ?? unopened(code, runs);
    },
    async open() {
      try {
        await openNow();
      } catch (error) {
        log.error({ err: error }, "a region is down; the others go on");
        triedMs = performance.now();
        throw error;
      }
    },
    async fence(to) {
      epoch = to;
      await opened?.driver.fence(to);
    },
    async list() {
      if (isAway) {
        if (!isClosed && performance.now() - triedMs >= retryMs) trying ??= tryAgain();
        return lastSeen;
      }
      try {
        lastSeen = await reached().driver.list();
      } catch (error) {
        lose(error);
      }
      return lastSeen;
    },
    images() {
      if (opened) return opened.images;
      return runs.includes("image") ? unopenedBuilder(reached) : undefined;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await trying;
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

/** Says what it runs, and refuses everything else. */
function unopened(code: string, runs: RegionOptions["runs"]): Driver {
  const refuse = async (): Promise<never> => {
    throw new DriverUnavailableError(`The region '${code}' is down`);
  };
  return {
    capabilities: { runs, cpuLimit: false, memoryLimit: false, isolation: "none" },
    ...{ fence: refuse, newestEpoch: refuse, prepare: refuse, create: refuse, list: refuse },
    ...{ destroy: refuse, forget: refuse },
    onChange: () => undefined,
  };
}

function unopenedBuilder(reached: () => OpenedDriver): ImageBuilder {
  const refuse = async (): Promise<never> => {
    reached();
    throw new DriverUnavailableError("The region has just come back; try again");
  };
  return { build: refuse, has: refuse, keepOnly: async () => 0 };
}
