import { readMemory, readUsage } from "../../machine/usage.ts";
import { until } from "../../../testing/wait.ts";
import { pause } from "../../machine/child.ts";
import type { PretendedService } from "./service.ts";

/** Resources the service uses while it only watches. */
export interface Watching {
  /** Share of a core. */
  controllerShare: number;
  postgresShare: number;
  statementsPerSecond: number;
  /** Calls to the cluster's API server. */
  callsPerSecond: number;
  passMs: number;
  passesPerSecond: number;
  memoryMb: number;
}

const SETTLE_MS = 6_000; // a heartbeat of every instance
const SETTLED_MS = 300_000; // pods are labelled a few at a time
const WINDOW_MS = 15_000; // three heartbeats

export async function watchFor(pretended: PretendedService): Promise<Watching> {
  await settled(pretended);
  const before = await readAll(pretended);
  await pause(WINDOW_MS);
  const after = await readAll(pretended);
  const seconds = (after.atMs - before.atMs) / 1_000;
  const passes = after.passes - before.passes;
  return {
    controllerShare: (after.controllerMs - before.controllerMs) / 1_000 / seconds,
    postgresShare: (after.postgresMs - before.postgresMs) / 1_000 / seconds,
    statementsPerSecond: (after.statements - before.statements) / seconds,
    callsPerSecond: (after.calls - before.calls) / seconds,
    passMs: ((after.passSeconds - before.passSeconds) / Math.max(1, passes)) * 1_000,
    passesPerSecond: passes / seconds,
    memoryMb: readMemory(pretended.service.pid("controller")).rssMb,
  };
}

/** Resolves when the cluster is no longer asked for anything but news. */
async function settled({ cluster }: PretendedService): Promise<void> {
  await until(
    async () => {
      const before = await cluster.calls();
      await pause(SETTLE_MS);
      return (await cluster.calls()) - before <= SETTLE_MS / 1_000;
    },
    SETTLED_MS,
    "a cluster at rest",
  );
}

async function readAll({ service, postgres, cluster, metric }: PretendedService) {
  const { cpuMs, atMs } = readUsage(service.pid("controller"));
  return {
    atMs,
    controllerMs: cpuMs,
    postgresMs: postgres.cpuMs(),
    statements: await postgres.statements(),
    calls: await cluster.calls(),
    passSeconds: await metric("vocalhost_reconcile_seconds_sum"),
    passes: await metric("vocalhost_reconcile_seconds_count"),
  };
}
