import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../../../testing/wait.ts";
import { silentLog } from "@vocalhost/base/log";
import { findTree } from "./cgroup-tree.ts";
import { LOADING_SHARE } from "../loading.ts";
import { openCgroups, type Cgroups } from "./cgroups.ts";

const name = `vocalhost-test-${randomUUID().slice(0, 8)}`;
const tree = await findTree(name);
const skip = tree?.controllers.includes("cpu") ? false : "this machine lets us make no control groups";

/** As many programs as the group counts for when others want the processor too. */
function programs(): number {
  return Number(readFileSync(join(tree?.folder ?? "", "cpu.weight"), "utf8")) / 100;
}

test(
  "instances count for as many programs as are at work, and leave the service its turn",
  { skip },
  async () => {
    const cgroups = await openCgroups({ name, log: silentLog });
    const most = Math.min(availableParallelism() * 2, 100);
    const counts = (expected: number): Promise<unknown> =>
      until(() => programs() === expected, 5_000, `weight of ${expected}`);
    for (const id of ["one", "two", "three"]) await cgroups.limit(id, { cpuMillicores: 500 });
    assert.equal(programs(), 1, "those that load or wait count for one");
    cgroups.weigh(2);
    await counts(2);
    cgroups.weigh(most + 1);
    await counts(most);
    for (const id of ["one", "two", "three"]) await cgroups.remove(id);
    assert.equal(existsSync(tree?.folder ?? ""), false, "the last one takes our group with it");
    await cgroups.limit("four", { cpuMillicores: 500 });
    assert.equal(programs(), most, "a group that is made again weighs as much");
    cgroups.weigh(0);
    await counts(1);
    await cgroups.remove("four");
  },
);

test("an instance that loads leaves one that talks most of their time", { skip }, async () => {
  const cgroups = await openCgroups({ name, log: silentLog });
  await using stack = new AsyncDisposableStack();
  const talks = await busyInstance(cgroups, stack, "talks", 1);
  const loads = await busyInstance(cgroups, stack, "loads", LOADING_SHARE);
  const [talkedMs, loadedMs] = [ranMs(talks), ranMs(loads)];
  await until(() => ranMs(talks) - talkedMs > 400, 20_000, "a busy instance");
  const share = (ranMs(loads) - loadedMs) / (ranMs(talks) - talkedMs);
  assert.ok(share < 0.5, `the one that loads got ${share.toFixed(2)} of what the other got`);
  await cgroups.limit("loads", { share: 1 });
  const [laterTalkedMs, laterLoadedMs] = [ranMs(talks), ranMs(loads)];
  await until(() => ranMs(talks) - laterTalkedMs > 400, 20_000, "a busy instance");
  const later = (ranMs(loads) - laterLoadedMs) / (ranMs(talks) - laterTalkedMs);
  assert.ok(later > 0.7, `when it has loaded it got ${later.toFixed(2)}`);
});

test(
  "two busy instances are not held up by two busy programs more than by each other",
  { skip },
  async () => {
    const cgroups = await openCgroups({ name, log: silentLog });
    await using stack = new AsyncDisposableStack();
    cgroups.weigh(2);
    const others = [busy(stack), busy(stack)];
    const ours = [await busyInstance(cgroups, stack, "one", 1), await busyInstance(cgroups, stack, "two", 1)];
    const usedMs = (pids: number[]): number => pids.reduce((sum, pid) => sum + ranMs(pid), 0);
    const [oursBefore, othersBefore] = [usedMs(ours), usedMs(others)];
    await until(() => usedMs(others) - othersBefore > 400, 20_000, "busy programs");
    const share = (usedMs(ours) - oursBefore) / (usedMs(others) - othersBefore);
    assert.ok(share > 0.7, `instances got ${share.toFixed(2)} of what the others got`);
  },
);

/** Its pid; all of them want the same core. */
function busy(stack: AsyncDisposableStack): number {
  const child = spawn("taskset", ["-c", "0", "sh", "-c", "while :; do :; done"], { stdio: "ignore" });
  stack.defer(() => void child.kill("SIGKILL"));
  return child.pid ?? 0;
}

async function busyInstance(
  cgroups: Cgroups,
  stack: AsyncDisposableStack,
  id: string,
  share: number,
): Promise<number> {
  stack.defer(async () => {
    await until(async () => (await cgroups.processes(id)).length === 0, 5_000, "end of a busy instance");
    await cgroups.remove(id);
  });
  const pid = busy(stack);
  await cgroups.limit(id, { cpuMillicores: 1_000, share });
  await cgroups.add(id, pid);
  return pid;
}

function ranMs(pid: number): number {
  const [ranNs] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
  return Number(ranNs) / 1e6;
}
