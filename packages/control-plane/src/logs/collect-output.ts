import type { OrganizationId } from "../identity/principal.ts";
import type { Clock } from "@vocalhost/base/clock";
import type { InstanceRecords, OutputLine } from "@vocalhost/drivers/instance-records";
import type { Log } from "@vocalhost/base/log";
import type { LogLineRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import { cutLine, toInertText } from "@vocalhost/base/inert-text";
import { newestLineAt, readCursors, writeOutput } from "./output-rows.ts";
import { firstReading, type OutputLimits, type Reading, takeLines } from "./take-lines.ts";

/** Carries what instances print into the store. */
export interface OutputCollector {
  /** One round, every quarter of a second or so. Never rejects: what failed is read again in the next. */
  collect(instances: readonly OutputSource[]): Promise<void>;
  /** All that is left, before the driver forgets the instance. Rejects if it could not be stored. */
  drain(instance: OutputSource): Promise<void>;
}

export interface OutputSource {
  id: string;
  organizationId: string;
  agentId: string;
  deploymentId: string;
  /** Whose words these are. */
  sessionId: string | null;
}

export interface OutputCollectorOptions {
  store: Store;
  records: Pick<InstanceRecords, "output">;
  clock: Clock;
  log: Log;
  /** Whose words these are, asked after they were read: a claim may be younger than what the caller knows. */
  sessionOf?(instanceId: string): Promise<string | null>;
  /** Hides the values of the deployment's secrets. */
  redact(organizationId: OrganizationId, deploymentId: string, text: string): string | Promise<string>;
  limits?: Partial<OutputLimits>;
}

const LIMITS: OutputLimits = { linesPerSecond: 1_000, bytesPerSession: 50 * 1024 * 1024 };
const CHUNKS_PER_ROUND = 8; // a flood from one must not hold up the others
const READ_MAX_CHARACTERS = 64 * 1024; // of a line, before secrets are hidden; more is cut away afterwards anyhow

/** What a round found in one instance. */
interface Batch {
  source: OutputSource;
  reading: Reading;
  kept: OutputLine[];
  notices: OutputLine[];
  hasMoved: boolean;
  isMore: boolean;
}

export function createOutputCollector(options: OutputCollectorOptions): OutputCollector {
  const { store, records, clock, log } = options;
  const limits = { ...LIMITS, ...options.limits };
  const readings = new Map<string, Reading>();
  let nextStamp: Stamps | undefined;
  let lastRound: Promise<unknown> = Promise.resolve();
  let isFailing = false;

  /** One at a time, so that lines are committed in the order of their time stamps. */
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = lastRound.then(run);
    lastRound = result.catch(() => undefined);
    return result;
  }

  /** True if any of them has more. */
  async function round(sources: readonly OutputSource[]): Promise<boolean> {
    nextStamp ??= createStamps(clock, await newestLineAt(store.db));
    const unknown = sources.map(({ id }) => id).filter((id) => !readings.has(id));
    for (const cursor of await readCursors(store.db, unknown))
      readings.set(cursor.instanceId, { ...firstReading(cursor.instanceId), cursor });
    const results = await Promise.allSettled(sources.map(read));
    const batches = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    const moved = batches.filter(({ hasMoved }) => hasMoved);
    if (moved.length > 0)
      await writeOutput(store, {
        lines: moved.flatMap(({ source, kept }) => kept.map((line) => toRow(source, line))),
        notices: moved.flatMap(({ source, notices }) => notices.map((line) => toRow(source, line))),
        cursors: moved.map(({ reading }) => reading.cursor),
        nowMs: clock.nowMs(),
      });
    for (const { source, reading } of moved) readings.set(source.id, reading);
    const failure = results.find((result) => result.status === "rejected");
    if (failure) throw failure.reason;
    return batches.some(({ isMore }) => isMore);
  }

  async function read(source: OutputSource): Promise<Batch> {
    const known = readings.get(source.id) ?? firstReading(source.id);
    const batch: Batch = { source, reading: known, kept: [], notices: [], hasMoved: false, isMore: false };
    for (let chunks = 0; chunks < CHUNKS_PER_ROUND; chunks += 1) {
      const { nextPosition } = batch.reading.cursor;
      const chunk = await records.output(source.id, nextPosition);
      batch.isMore = chunk.nextPosition > nextPosition;
      if (!batch.isMore) break;
      if (batch.source.sessionId === null && options.sessionOf)
        batch.source = { ...source, sessionId: await options.sessionOf(source.id) };
      const taken = await takeLines(batch.reading, chunk, {
        sessionId: batch.source.sessionId,
        limits,
        monotonicMs: clock.monotonicMs(),
        toText: (raw) => toText(source, raw),
      });
      batch.reading = taken.reading;
      batch.kept.push(...taken.kept);
      if (taken.notice) batch.notices.push(taken.notice);
      batch.hasMoved = true;
    }
    return batch;
  }

  async function toText({ organizationId, deploymentId }: OutputSource, raw: string): Promise<string> {
    const readable = raw.slice(0, READ_MAX_CHARACTERS);
    const text = await options.redact(organizationId as OrganizationId, deploymentId, readable);
    return cutLine(toInertText(text), raw.length - readable.length);
  }

  function toRow(source: OutputSource, { position, text }: OutputLine): LogLineRow {
    const { id: instanceId, organizationId, agentId, deploymentId, sessionId } = source;
    return { instanceId, position, organizationId, agentId, deploymentId, sessionId, ...nextStamp!(), text };
  }

  return {
    collect: (instances) =>
      inTurn(async () => {
        const listed = new Set(instances.map(({ id }) => id));
        for (const id of readings.keys()) if (!listed.has(id)) readings.delete(id);
        try {
          store.requireDiskSpace(); // what cannot be kept is dropped, before it keeps anything else from being written
          await round(instances);
          isFailing = false;
        } catch (error) {
          if (!isFailing) log.warn({ err: error }, "output of instances cannot be collected");
          isFailing = true;
        }
      }),
    async drain(instance) {
      while (await inTurn(() => round([instance]))) continue;
      readings.delete(instance.id);
    },
  };
}

/** Gives each line its moment: never twice the same, never backwards, so that lines read at once keep their order. */
type Stamps = () => { at: number; nanos: number };

const NANOS_PER_MS = 1_000_000;
const CLOCK_STEP_MAX_MS = 60_000;

/** `newestAt`: of the lines already stored. A clock that was set back a little waits for them; more, and it is believed. */
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
