import type { OrganizationId } from "../auth/principal.ts";
import { DeploymentSpec } from "../agents/deployment-spec.ts";
import type { Clock } from "../clock.ts";
import type { Driver } from "../drivers/driver.ts";
import type { InstanceReport } from "../instances/instance-network.ts";
import type { Log } from "../log.ts";
import { createOutputCollector, type OutputSource } from "../logs/collect-output.ts";
import type { PoolRows } from "../reconciler/read-pools.ts";
import { writeSamples } from "../samples/samples.ts";
import { createRedactor, type Redactor } from "../secrets/redact.ts";
import type { InstanceRow, SampleRow } from "../store/schema.ts";
import type { Store } from "../store/store.ts";
import type { DeployingOptions } from "./deploying.ts";

/** Carries what instances print and use into the store. */
export interface OutputWork {
  /** After a pass of the reconciler: who is there, and what they reported. */
  passed(pools: PoolRows[], reports: ReadonlyMap<string, InstanceReport>): Promise<void>;
  /** The last words of an instance that is to be forgotten. */
  drain(instanceId: string): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

export interface OutputWorkOptions {
  store: Store;
  driver: Driver;
  clock: Clock;
  log: Log;
  secretsOf: DeployingOptions["secretsOf"];
}

const ROUND_MS = 250;
const REDACTORS_MAX = 1_000;

export function createOutputWork(options: OutputWorkOptions): OutputWork {
  const { store, driver, clock, log } = options;
  const redactors = new Map<string, Promise<Redactor>>();
  const lastSamples = new Map<string, { cpuMs: number; heardAtMs: number }>();
  let sources: OutputSource[] = [];

  const collector = createOutputCollector({
    store,
    driver,
    clock,
    log,
    sessionOf: async (instanceId) => (await readInstance(instanceId))?.sessionId ?? null,
    redact: async (organizationId, deploymentId, text) =>
      (await redactorOf(organizationId, deploymentId))(text),
  });

  function readInstance(instanceId: string): Promise<InstanceRow | undefined> {
    return store.db.selectFrom("instances").selectAll().where("id", "=", instanceId).executeTakeFirst();
  }

  function redactorOf(organizationId: OrganizationId, deploymentId: string): Promise<Redactor> {
    const known = redactors.get(deploymentId);
    if (known) return known;
    if (redactors.size >= REDACTORS_MAX) redactors.clear();
    const made = makeRedactor(organizationId, deploymentId);
    redactors.set(deploymentId, made);
    made.catch(() => redactors.delete(deploymentId));
    return made;
  }

  async function makeRedactor(organizationId: OrganizationId, deploymentId: string): Promise<Redactor> {
    const row = await store.db
      .selectFrom("deployments")
      .select("spec")
      .where("id", "=", deploymentId)
      .executeTakeFirstOrThrow();
    const { secretSet, secretVersion } = DeploymentSpec.parse(JSON.parse(row.spec));
    if (secretSet === null || secretVersion === null) return createRedactor([]);
    return createRedactor(Object.values(await options.secretsOf(organizationId, secretSet, secretVersion)));
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

const SAMPLE_EVERY_MS = 4_000; // heartbeats come every five seconds; news between them make no sample

function toSource({ id, organizationId, agentId, deploymentId, sessionId }: OutputSource): OutputSource {
  return { id, organizationId, agentId, deploymentId, sessionId };
}
