// The cost of a growing number of pods for the service: reconcile passes, memory, calls to the API server, starts.
import type { Benchmark, Row } from "../report/row.ts";
import { figure } from "../report/statistics.ts";
import { startPretendedCluster, type PretendedCluster } from "./pretended/cluster.ts";
import { startKwokCluster } from "./pretended/kwok.ts";
import { watchFor } from "./pretended/live.ts";
import { startPretendedService } from "./pretended/service.ts";
import { burst } from "./pretended/starts.ts";

const SIZES = [10, 100, 500, 1_000, 2_000];
const STARTS = { callers: 5, starts: 10 };

export const pods: Benchmark = {
  name: "pods",
  about: `${SIZES.join(", ")} pods of a stand-in API server that only pretend …`,
  run: (told) => curve(startPretendedCluster, "a stand-in API server", told),
};

/** Needs a cluster that others do not use meanwhile. */
export const kwok: Benchmark = {
  name: "kwok",
  about: `${SIZES.join(", ")} pods that kwok pretends, in the cluster that KUBECONFIG names …`,
  run: (told) => curve(startKwokCluster, "a real API server, kwok", told),
};

async function curve(
  openCluster: () => Promise<PretendedCluster>,
  where: string,
  told: (row: Row) => void,
): Promise<Row[]> {
  await using pretended = await startPretendedService(openCluster);
  const { cluster, fill } = pretended;
  const rows: Row[] = [];
  let there = 0;
  let live = 0;
  for (const size of SIZES) {
    const [callsBefore, startedMs] = [await cluster.calls(), performance.now()];
    await fill(size - live);
    const madeMs = performance.now() - startedMs;
    const callsPerPod = ((await cluster.calls()) - callsBefore) / (size - there);
    there = size;
    const rest = await watchFor(pretended);
    const start = await burst(pretended, STARTS);
    live += STARTS.starts;
    const row: Row = {
      what: `${size} pods on ${where}: a look at everything`,
      measured: `${figure(rest.passMs)} ms, controller ${figure(rest.controllerShare * 100)} % of a core, ${figure(rest.memoryMb)} MB RSS`,
      note:
        `API calls: ${figure(rest.callsPerSecond)} a second at rest, ${figure(callsPerPod)} a pod made; ` +
        `${figure(start.statements)} statements a start; all there after ${figure(madeMs / 1_000)} s`,
    };
    rows.push(row);
    told(row);
  }
  return rows;
}
