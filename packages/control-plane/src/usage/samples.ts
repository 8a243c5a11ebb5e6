import type { OrganizationId } from "../identity/principal.ts";
import { deleteOlder } from "@vocalhost/store/delete-older";
import type { SampleRow } from "@vocalhost/store/schema";
import type { Db, Store, Tx } from "@vocalhost/store/store";
import { toTime } from "@vocalhost/base/to-time";

/** Writes the resources that a session used at one moment. The same moment twice counts once. */
export async function writeSample(db: Db | Tx, sample: SampleRow): Promise<void> {
  await writeSamples(db, [sample]);
}

export async function writeSamples(db: Db | Tx, samples: SampleRow[]): Promise<void> {
  const values = samples.filter(isSample).map((sample) => ({
    ...sample,
    at: Math.round(within(sample.at)),
    cpuMillicores: within(sample.cpuMillicores),
    memoryBytes: Math.round(within(sample.memoryBytes)),
  }));
  if (values.length === 0) return;
  await db
    .insertInto("samples")
    .values(values)
    .onConflict((conflict) => conflict.columns(["sessionId", "at"]).doNothing())
    .execute();
}

const FIGURE_MAX = 2 ** 50; // beyond any machine, and whole numbers up to it stay exact

// Samples come from bots' processes and are written in one statement: an invalid one must not cost the others.
function isSample({ at, cpuMillicores, memoryBytes }: SampleRow): boolean {
  return [at, cpuMillicores, memoryBytes].every(Number.isFinite);
}

function within(figure: number): number {
  return Math.min(Math.max(figure, 0), FIGURE_MAX);
}

export interface ResourceMetrics {
  id: string;
  sessionId: string;
  sampleCount: number;
  cpuMillicoresP50: number;
  cpuMillicoresP90: number;
  cpuMillicoresP95: number;
  cpuMillicoresP99: number;
  memoryBytesP50: number;
  memoryBytesP90: number;
  memoryBytesP95: number;
  memoryBytesP99: number;
  /** Unix seconds, millicores, bytes. */
  timeseries: { t: number; c: number; m: number }[];
  /** Time of the last sample. */
  eventTs: string;
  /** Time of the first sample. */
  createdAt: string;
}

/** Returns the resources that a session of this organisation used; null without samples. */
export async function resourceMetrics(
  store: Store,
  organizationId: OrganizationId,
  sessionId: string,
): Promise<ResourceMetrics | null> {
  const samples = await store.db
    .selectFrom("samples")
    .innerJoin("sessions", "sessions.id", "samples.sessionId")
    .where("sessions.organizationId", "=", organizationId)
    .where("samples.sessionId", "=", sessionId)
    .select(["samples.sessionId", "samples.at", "samples.cpuMillicores", "samples.memoryBytes"])
    .orderBy("samples.at")
    .execute();
  return summarize(sessionId, samples);
}

export function summarize(sessionId: string, samples: readonly SampleRow[]): ResourceMetrics | null {
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last) return null;
  const cpu = percentilesOf(samples.map((sample) => Math.round(sample.cpuMillicores)));
  const memory = percentilesOf(samples.map((sample) => sample.memoryBytes));
  return {
    id: sessionId,
    sessionId,
    sampleCount: samples.length,
    cpuMillicoresP50: cpu(50),
    cpuMillicoresP90: cpu(90),
    cpuMillicoresP95: cpu(95),
    cpuMillicoresP99: cpu(99),
    memoryBytesP50: memory(50),
    memoryBytesP90: memory(90),
    memoryBytesP95: memory(95),
    memoryBytesP99: memory(99),
    timeseries: samples.map((sample) => ({
      t: Math.floor(sample.at / 1000),
      c: Math.round(sample.cpuMillicores),
      m: sample.memoryBytes,
    })),
    eventTs: toTime(last.at),
    createdAt: toTime(first.at),
  };
}

/** Nearest rank: always a value that was seen. */
function percentilesOf(values: number[]): (percent: number) => number {
  const sorted = values.toSorted((one, other) => one - other);
  return (percent) => sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}

export const SAMPLE_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

export async function pruneSamples(
  store: Store,
  { nowMs, retentionMs = SAMPLE_RETENTION_MS }: { nowMs: number; retentionMs?: number },
): Promise<void> {
  const beforeMs = nowMs - retentionMs;
  await deleteOlder(store, { table: "samples", key: ["sessionId", "at"], age: "at", beforeMs });
}
