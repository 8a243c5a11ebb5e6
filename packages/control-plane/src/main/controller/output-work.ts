import type { Clock } from "@vocalhost/base/clock";
import type { InstanceRecords } from "@vocalhost/drivers/instance-records";
import type { InstanceReport } from "../../pools/instances/instance-network.ts";
import type { Log } from "@vocalhost/base/log";
import { OutputCollector, type OutputSource } from "../../logs/collect-output.ts";
import type { PoolRows } from "../../reconciler/read-pools.ts";
import { writeSamples } from "../../usage/samples.ts";
import type { InstanceRow, SampleRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import type { RedactorOf } from "./redactors.ts";

/** Copies the output and usage of instances into the store. */
export interface OutputWork {
  /** Called after each reconcile pass with the instances and their reports. */
  passed(pools: PoolRows[], reports: ReadonlyMap<string, InstanceReport>): Promise<void>;
  /** Reads the remaining output of an instance before it is removed. */
  drain(instanceId: string): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

export interface OutputWorkOptions {
  store: Store;
  records: InstanceRecords;
  clock: Clock;
  log: Log;
  redactorOf: RedactorOf;
}

const ROUND_MS = 250;

export function createOutputWork(options: OutputWorkOptions): OutputWork {
  const { store, records, clock, log } = options;
  const lastSamples = new Map<string, { cpuMs: number; heardAtMs: number }>();
  let sources: OutputSource[] = [];

  const collector = new OutputCollector({
    store,
    records,
    clock,
    log,
    sessionOf: async (instanceId) => (await readInstance(instanceId))?.sessionId ?? null,
    redact: async (_organizationId, deploymentId, text) => (await options.redactorOf(deploymentId))(text),
  });

  function readInstance(instanceId: string): Promise<InstanceRow | undefined> {
    return store.db.selectFrom("instances").selectAll().where("id", "=", instanceId).executeTakeFirst();
  }

  async function sample(pools: PoolRows[], reports: ReadonlyMap<string, InstanceReport>): Promise<void> {
    const samples: SampleRow[] = [];
    for (const { id, sessionId, state } of pools.flatMap(({ instances }) => instances)) {
      const report = reports.get(id);
      if (state !== "busy" || sessionId === null || !report) continue;
      const before = lastSamples.get(id);
      const { cpuMs, memoryBytes } = report.status;
      if (before && report.heardAtMs - before.heardAtMs < SAMPLE_EVERY_MS) continue;
      lastSamples.set(id, { cpuMs, heardAtMs: report.heardAtMs });
      if (!before) continue;
      const cpuMillicores = ((cpuMs - before.cpuMs) / (report.heardAtMs - before.heardAtMs)) * 1000;
      samples.push({ sessionId, at: report.heardAt, cpuMillicores, memoryBytes });
    }
    const live = new Set(pools.flatMap(({ instances }) => instances.map(({ id }) => id)));
    for (const id of lastSamples.keys()) if (!live.has(id)) lastSamples.delete(id);
    if (samples.length > 0) await writeSamples(store.db, samples);
  }

  return {
    async passed(pools, reports) {
      sources = pools.flatMap(({ instances }) => instances.map(toSource));
      await sample(pools, reports).catch((error: unknown) =>
        log.warn({ err: error }, "samples could not be written"),
      );
    },
    async drain(instanceId) {
      const row = await readInstance(instanceId);
      if (row) await collector.drain(toSource(row));
    },
    async run(signal) {
      while (!signal.aborted) {
        await collector.collect(sources);
        await clock.sleep(ROUND_MS, signal);
      }
    },
  };
}

const SAMPLE_EVERY_MS = 4_000; // heartbeats come every five seconds; reports between them make no sample

function toSource({ id, organizationId, agentId, deploymentId, sessionId }: OutputSource): OutputSource {
  return { id, organizationId, agentId, deploymentId, sessionId };
}
