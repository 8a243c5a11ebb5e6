import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../../../../testing/wait.ts";
import { silentLog } from "../../log.ts";
import { findHierarchies } from "./cgroup-hierarchies.ts";
import { openCgroups } from "./cgroups.ts";

const name = `vocalhost-test-${randomUUID().slice(0, 8)}`;
const cpu = (await findHierarchies(name)).find(({ controllers }) => controllers.includes("cpu"));
const skip = cpu ? false : "this machine lets us make no control groups";

/** As many programs as the group counts for when others want the processor too. */
function programs(): number {
  const [file, one] = cpu?.version === 2 ? ["cpu.weight", 100] : ["cpu.shares", 1_024];
  return Number(readFileSync(join(cpu?.folder ?? "", file), "utf8")) / one;
}

test(
  "instances together count for as many programs as they are, and leave the service its turn",
  { skip },
  async () => {
    const cgroups = await openCgroups({ name, log: silentLog });
    const most = Math.min(availableParallelism() * 2, 100);
    const ids = Array.from({ length: most + 1 }, (_, at) => `instance-${at}`);
    for (const [at, id] of ids.entries()) {
      await cgroups.limit(id, { cpuMillicores: 500 });
      assert.equal(programs(), Math.min(at + 1, most));
    }
    for (const id of ids.slice(1)) await cgroups.remove(id);
    assert.equal(programs(), 1);
    await cgroups.remove("instance-0");
    assert.equal(existsSync(cpu?.folder ?? ""), false, "the last one takes our group with it");
  },
);

test(
  "two busy instances are not held up by two busy programs more than by each other",
  { skip },
  async () => {
    const cgroups = await openCgroups({ name, log: silentLog });
    await using stack = new AsyncDisposableStack();
    const busy = (): ChildProcess => {
      const child = spawn("taskset", ["-c", "0", "sh", "-c", "while :; do :; done"], { stdio: "ignore" });
      stack.defer(() => void child.kill("SIGKILL"));
      return child;
    };
    const others = [busy(), busy()];
    const instances = ["one", "two"].map((id) => ({ id, child: busy() }));
    for (const { id, child } of instances) {
      await cgroups.limit(id, { cpuMillicores: 1_000 });
      await cgroups.add(id, child.pid ?? 0);
      stack.defer(async () => {
        child.kill("SIGKILL");
        await until(async () => (await cgroups.processes(id)).length === 0, 5_000, "end of a busy instance");
        await cgroups.remove(id);
      });
    }
    const usedMs = (children: ChildProcess[]): number =>
      children.reduce((sum, { pid }) => sum + ranMs(pid ?? 0), 0);
    const ours = instances.map(({ child }) => child);
    const [oursBefore, othersBefore] = [usedMs(ours), usedMs(others)];
    await until(() => usedMs(others) - othersBefore > 400, 20_000, "busy programs");
    const share = (usedMs(ours) - oursBefore) / (usedMs(others) - othersBefore);
    assert.ok(share > 0.7, `instances got ${share.toFixed(2)} of what the others got`);
  },
);

function ranMs(pid: number): number {
  const [ranNs] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
  return Number(ranNs) / 1e6;
}
