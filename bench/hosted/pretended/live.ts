import { readMemory, readUsage } from "../../machine/usage.ts";
import { pause } from "../../machine/child.ts";
import type { PretendedService } from "./service.ts";

/** What the service uses while it only watches. */
export interface Watching {
  /** Of a core. */
  controllerShare: number;
  postgresShare: number;
  statementsPerSecond: number;
  /** Of the cluster's API server. */
  callsPerSecond: number;
  passMs: number;
  passesPerSecond: number;
  memoryMb: number;
}

const SETTLE_MS = 6_000; // the last news, and a heartbeat of everybody
const WINDOW_MS = 15_000; // three heartbeats

export async function watchFor(pretended: PretendedService): Promise<Watching> {
  await pause(SETTLE_MS);
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
