import type { Log } from "@vocalhost/base/log";
import { DriverUnavailableError, type Driver, type OpenedDriver, type SeenInstance } from "../driver.ts";
import type { ImageBuilder } from "../image-builder.ts";
import type { RegionOptions } from "../regional.ts";

const RETRY_MS = 5_000;

export interface RegionContext {
  log: Log;
  changed(): void;
  retryMs?: number | undefined;
}

/** The driver of one region, which may be away for a time. */
export class Region implements AsyncDisposable {
  readonly code: string;
  readonly #options: RegionOptions;
  readonly #changed: () => void;
  readonly #log: Log;
  readonly #retryMs: number;
  #opened: OpenedDriver | undefined;
  #epoch: number | undefined;
  #isAway = true;
  #lastSeen: SeenInstance[] = [];
  #trying: Promise<void> | undefined;
  #triedMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: RegionOptions, { log, changed, retryMs = RETRY_MS }: RegionContext) {
    this.code = options.code;
    this.#options = options;
    this.#changed = changed;
    this.#log = log.child({ region: options.code });
    this.#retryMs = retryMs;
  }

  /** Refuses with `DriverUnavailableError` while the region is away. */
  get driver(): Driver {
    return this.#opened?.driver ?? unopened(this.#options);
  }

  get opened(): OpenedDriver | undefined {
    return this.#opened;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  reached(): OpenedDriver {
    if (this.#opened && !this.#isAway) return this.#opened;
    throw new DriverUnavailableError(`The region '${this.code}' is down`);
  }

  async open(): Promise<void> {
    try {
      await this.#openNow();
    } catch (error) {
      this.#log.error({ err: error }, "a region is down; the others go on");
      this.#triedMs = performance.now();
      throw error;
    }
  }

  async fence(epoch: number): Promise<void> {
    this.#epoch = epoch;
    await this.#opened?.driver.fence(epoch);
  }

  /** Returns what is there, or what was there last while the region is away. */
  async list(): Promise<SeenInstance[]> {
    if (this.#isAway) {
      const isDue = performance.now() - this.#triedMs >= this.#retryMs;
      if (!this.#isClosed && isDue) this.#trying ??= this.#tryAgain();
      return this.#lastSeen;
    }
    try {
      this.#lastSeen = await this.reached().driver.list();
    } catch (error) {
      this.#lose(error);
    }
    return this.#lastSeen;
  }

  /** Returns undefined where instances are not made of images. */
  images(): ImageBuilder | undefined {
    if (this.#opened) return this.#opened.images;
    return this.#options.runs.includes("image") ? unopenedBuilder(() => this.reached()) : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#trying;
    await this.#opened?.[Symbol.asyncDispose]();
  }

  async #openNow(): Promise<void> {
    if (this.#opened) return;
    const made = await this.#options.open();
    try {
      if (this.#isClosed) throw new Error("The service ends");
      if (this.#epoch !== undefined) await made.driver.fence(this.#epoch);
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
    made.driver.onChange(this.#changed);
    this.#opened = made;
    this.#isAway = false;
  }

  #lose(error: unknown): void {
    if (!this.#isAway) this.#log.error({ err: error }, "a region is down; the others go on");
    this.#isAway = true;
    this.#triedMs = performance.now();
  }

  /** Is not awaited by `list`, because a region that hangs must not hold up the others. */
  async #tryAgain(): Promise<void> {
    try {
      await this.#openNow();
      this.#lastSeen = (await this.#opened?.driver.list()) ?? [];
      this.#isAway = false;
      this.#log.info({}, "a region is there again");
      this.#changed();
    } catch (error) {
      this.#log.debug({ err: error }, "a region is still down");
      this.#triedMs = performance.now();
    } finally {
      this.#trying = undefined;
    }
  }
}

/** Returns a driver that says what it runs, and refuses everything else. */
function unopened({ code, runs }: RegionOptions): Driver {
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
