import { cutLine, toInertText } from "@vocalhost/base/inert-text";
import type { Clock } from "@vocalhost/base/clock";
import type { Log } from "@vocalhost/base/log";
import type { InstanceRecords, OutputLine } from "@vocalhost/drivers/instance-records";
import type { LogLineRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import type { OrganizationId } from "../identity/principal.ts";
import { newestLineAt, readCursors, writeOutput } from "./output-rows.ts";
import { firstReading, type OutputLimits, type Reading, takeLines } from "./take-lines.ts";

/** An instance whose output is collected. */
export interface OutputSource {
  id: string;
  organizationId: string;
  agentId: string;
  deploymentId: string;
  /** The session that its output belongs to. */
  sessionId: string | null;
}

export interface OutputCollectorOptions {
  store: Store;
  records: Pick<InstanceRecords, "output">;
  clock: Clock;
  log: Log;
  /** Returns the session of output after it was read: a claim may be younger than the caller's rows. */
  sessionOf?(instanceId: string): Promise<string | null>;
  /** Hides the values of the deployment's secrets. */
  redact(organizationId: OrganizationId, deploymentId: string, text: string): string | Promise<string>;
  limits?: Partial<OutputLimits>;
}

const LIMITS: OutputLimits = { linesPerSecond: 1_000, bytesPerSession: 50 * 1024 * 1024 };
const CHUNKS_PER_ROUND = 8; // a flood from one instance must not hold up the others
const READ_MAX_CHARACTERS = 64 * 1024; // of a line, before secrets are hidden; a shorter limit cuts it again afterwards

/** The output that a round read from one instance. */
interface Batch {
  source: OutputSource;
  reading: Reading;
  kept: OutputLine[];
  notices: OutputLine[];
  hasMoved: boolean;
  isMore: boolean;
}

/** Carries what instances print into the store. */
export class OutputCollector {
  readonly #options: OutputCollectorOptions;
  readonly #limits: OutputLimits;
  readonly #readings = new Map<string, Reading>();
  #nextStamp: Stamps | undefined;
  #lastRound: Promise<unknown> = Promise.resolve();
  #isFailing = false;

  constructor(options: OutputCollectorOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  /** Makes one round; called about four times a second. Never rejects: a part that failed is read again in the next. */
  collect(instances: readonly OutputSource[]): Promise<void> {
    const { store, log } = this.#options;
    return this.#inTurn(async () => {
      const listed = new Set(instances.map(({ id }) => id));
      for (const id of this.#readings.keys()) if (!listed.has(id)) this.#readings.delete(id);
      try {
        store.requireDiskSpace(); // on a full disk output is dropped, before it keeps anything else from being written
        await this.#round(instances);
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) log.warn({ err: error }, "output of instances cannot be collected");
        this.#isFailing = true;
      }
    });
  }

  /** Collects all that is left, before the driver forgets the instance. Rejects if it could not be stored. */
  async drain(instance: OutputSource): Promise<void> {
    while (await this.#inTurn(() => this.#round([instance]))) continue;
    this.#readings.delete(instance.id);
  }

  /** Runs one round at a time, so that lines are committed in the order of their time stamps. */
  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#lastRound.then(run);
    this.#lastRound = result.catch(() => undefined);
    return result;
  }

  /** Returns whether any of the instances has more. */
  async #round(sources: readonly OutputSource[]): Promise<boolean> {
    const { store, clock } = this.#options;
    this.#nextStamp ??= createStamps(clock, await newestLineAt(store.db));
    const unknown = sources.map(({ id }) => id).filter((id) => !this.#readings.has(id));
    for (const cursor of await readCursors(store.db, unknown))
      this.#readings.set(cursor.instanceId, { ...firstReading(cursor.instanceId), cursor });
    const results = await Promise.allSettled(sources.map((source) => this.#read(source)));
    const batches = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    const moved = batches.filter(({ hasMoved }) => hasMoved);
    if (moved.length > 0)
      await writeOutput(store, {
        lines: moved.flatMap(({ source, kept }) => kept.map((line) => this.#toRow(source, line))),
        notices: moved.flatMap(({ source, notices }) => notices.map((line) => this.#toRow(source, line))),
        cursors: moved.map(({ reading }) => reading.cursor),
        nowMs: clock.nowMs(),
      });
    for (const { source, reading } of moved) this.#readings.set(source.id, reading);
    const failure = results.find((result) => result.status === "rejected");
    if (failure) throw failure.reason;
    return batches.some(({ isMore }) => isMore);
  }

  async #read(source: OutputSource): Promise<Batch> {
    const { records, clock, sessionOf } = this.#options;
    const known = this.#readings.get(source.id) ?? firstReading(source.id);
    const batch: Batch = { source, reading: known, kept: [], notices: [], hasMoved: false, isMore: false };
    for (let chunks = 0; chunks < CHUNKS_PER_ROUND; chunks += 1) {
      const { nextPosition } = batch.reading.cursor;
      const chunk = await records.output(source.id, nextPosition);
      batch.isMore = chunk.nextPosition > nextPosition;
      if (!batch.isMore) break;
      if (batch.source.sessionId === null && sessionOf)
        batch.source = { ...source, sessionId: await sessionOf(source.id) };
      const taken = await takeLines(batch.reading, chunk, {
        sessionId: batch.source.sessionId,
        limits: this.#limits,
        monotonicMs: clock.monotonicMs(),
        toText: (raw) => this.#toText(source, raw),
      });
      batch.reading = taken.reading;
      batch.kept.push(...taken.kept);
      if (taken.notice) batch.notices.push(taken.notice);
      batch.hasMoved = true;
    }
    return batch;
  }

  async #toText({ organizationId, deploymentId }: OutputSource, raw: string): Promise<string> {
    const readable = raw.slice(0, READ_MAX_CHARACTERS);
    const text = await this.#options.redact(organizationId as OrganizationId, deploymentId, readable);
    return cutLine(toInertText(text), raw.length - readable.length);
  }

  #toRow(source: OutputSource, { position, text }: OutputLine): LogLineRow {
    const { id: instanceId, organizationId, agentId, deploymentId, sessionId } = source;
    const stamp = this.#nextStamp!();
    return { instanceId, position, organizationId, agentId, deploymentId, sessionId, ...stamp, text };
  }
}

/** Gives each line its time: never the same twice and never backwards, so that lines read at once keep their order. */
type Stamps = () => { at: number; nanos: number };

const NANOS_PER_MS = 1_000_000;
const CLOCK_STEP_MAX_MS = 60_000;

/** Begins after the newest stored line, so a clock that was set back a little waits. One set back by more is believed. */
function createStamps(clock: Clock, newestAt: number): Stamps {
  let at = newestAt > clock.nowMs() + CLOCK_STEP_MAX_MS ? 0 : newestAt;
  let nanos = NANOS_PER_MS - 1;
  return () => {
    const nowMs = Math.floor(clock.nowMs());
    nanos += 1;
    if (nowMs > at || nanos >= NANOS_PER_MS) {
      at = Math.max(nowMs, nanos >= NANOS_PER_MS ? at + 1 : 0);
      nanos = 0;
    }
    return { at, nanos };
  };
}
