// How long a caller waits for an agent without instances whose bots are pods, beside the same bots as processes.
import { readFileSync } from "node:fs";
import { startServiceProcess, type ServiceProcess } from "../../e2e/harness/service-process.ts";
import { openTestCluster } from "../../e2e/cluster/test-cluster.ts";
import { requireBaseImage } from "../../testing/base-image.ts";
import { until } from "../../testing/wait.ts";
import type { Benchmark } from "../report/row.ts";
import { figure, median, percentile, ratio } from "../report/statistics.ts";
import { placeCall } from "./call.ts";

const STARTS = 8;
const TARGET_MS = 1_000;
const AT_REST_MS = 60_000;
const TIMING = { idleInstanceMs: 200, pauseAfterMs: 0 };
const BOT = readFileSync(new URL("entered-bot.ts", import.meta.url), "utf8");

/** Needs a node that has the time: its kubelet and containerd are most of what is measured. */
export const coldPods: Benchmark = {
  name: "cold-pods",
  about: "an agent's first caller, bots as pods in the cluster that KUBECONFIG names",
  async run() {
    const [pod, process] = [await podsEnteredMs(), await processesEnteredMs()];
    return [
      {
        what: `cold start of a pod, image on the node: \`POST start\` → \`bot\` entered, median (slowest) of ${STARTS}`,
        target: `≤ ${TARGET_MS} ms`,
        measured: `${figure(median(pod))} (${figure(percentile(pod, 1))}) ms`,
        baseline: `process ${figure(median(process))} ms (${ratio(median(pod), median(process))})`,
        met: median(pod) <= TARGET_MS,
      },
    ];
  },
};

async function podsEnteredMs(): Promise<number[]> {
  await using cluster = await openTestCluster();
  const image = await cluster.push(BOT, (await requireBaseImage()).image);
  await using service = await startServiceProcess({ environment: cluster.settings(), timing: TIMING });
  const { api, namespace } = cluster;
  const isAtRest = async (): Promise<boolean> =>
    (await api.listNamespacedPod({ namespace })).items.length === 0;
  return await firstCallersMs(service, { image }, isAtRest);
}

async function processesEnteredMs(): Promise<number[]> {
  await using service = await startServiceProcess({ timing: TIMING });
  const isAtRest = async (): Promise<boolean> => service.instancePids().length === 0;
  return await firstCallersMs(service, { files: { "bot.ts": BOT } }, isAtRest);
}

/** An agent is tried with an instance when it is deployed, so its image is there; its caller gets another. */
async function firstCallersMs(
  service: ServiceProcess,
  bot: { image: string } | { files: Record<string, string> },
  isAtRest: () => Promise<boolean>,
): Promise<number[]> {
  const enteredMs: number[] = [];
  for (let count = 0; count < STARTS; count++) {
    const name = `cold-${count}`;
    await service.deploy({ ...bot, name, autoScaling: { minAgents: 0, maxAgents: 2 } });
    await until(() => isAtRest(), AT_REST_MS, "agent at rest");
    using call = await placeCall(service, name);
    enteredMs.push(call.enteredMs);
  }
  return enteredMs;
}
