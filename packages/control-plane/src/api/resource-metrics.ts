import type { ResourceMetrics } from "@vocalhost/protocol";
import { toTime } from "../agents/manifest.ts";
import type { SampleRow } from "../store/schema.ts";

/** What a session used, from samples in order of time; null if there are none. */
export function toResourceMetrics(sessionId: string, samples: SampleRow[]): ResourceMetrics | null {
  const [first] = samples;
  const last = samples.at(-1);
  if (!first || !last) return null;
  const cpu = samples.map(({ cpuMillicores }) => cpuMillicores).sort(ascending);
  const memory = samples.map(({ memoryBytes }) => memoryBytes).sort(ascending);
  return {
    id: sessionId,
    sessionId,
    sampleCount: samples.length,
    cpuMillicoresP50: percentile(cpu, 50),
    cpuMillicoresP90: percentile(cpu, 90),
    cpuMillicoresP95: percentile(cpu, 95),
    cpuMillicoresP99: percentile(cpu, 99),
    memoryBytesP50: percentile(memory, 50),
    memoryBytesP90: percentile(memory, 90),
    memoryBytesP95: percentile(memory, 95),
    memoryBytesP99: percentile(memory, 99),
    timeseries: samples.map(({ at, cpuMillicores, memoryBytes }) => ({
      t: Math.floor(at / 1000),
      c: cpuMillicores,
      m: memoryBytes,
    })),
    eventTs: toTime(last.at),
    createdAt: toTime(first.at),
  };
}

/** Nearest rank. */
function percentile(sorted: number[], percent: number): number {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}

function ascending(one: number, other: number): number {
  return one - other;
}
