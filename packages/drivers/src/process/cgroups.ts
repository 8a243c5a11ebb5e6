import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@vocalhost/base/log";
import { findHierarchies, makeOurs, type Controller, type Hierarchy } from "./cgroup-hierarchies.ts";

/** Limits by the kernel's control groups, as far as this machine lets us. */
export interface Cgroups {
  readonly can: Record<Controller, boolean>;
  /** Makes the group, or changes the limits of the one that is there. */
  limit(id: string, limits: CgroupLimits): Promise<void>;
  /** Of the processor beside other instances, when it is short; 1 is usual. Makes no group. */
  share(id: string, share: number): Promise<void>;
  add(id: string, pid: number): Promise<void>;
  /** Whether the kernel killed something in the group for want of memory. */
  ranOutOfMemory(id: string): Promise<boolean>;
  /** Processes that are in the group. */
  processes(id: string): Promise<number[]>;
  /** Removes the group, which must be empty. */
  remove(id: string): Promise<void>;
  list(): Promise<string[]>;
  /** How many of them are at work, which is how many programs they count for together when the processor is short. */
  weigh(atWork: number): void;
}

export interface CgroupLimits {
  cpuMillicores?: number;
  memoryMib?: number;
  processes?: number;
  /** See `Cgroups.share`. */
  share?: number;
}

const PERIOD_US = 100_000;
// However many are at work: gateway and controller are a program each, and callers of every bot need those.
const PROGRAMS_PER_CORE = 2;
const PROGRAMS_MAX = 100; // the kernel knows no more
const REMOVE_TRIES = 20; // a group is busy for a moment after its last process
const REMOVE_AGAIN_MS = 50;

export async function openCgroups(options: { name: string; log: Log; isUsed?: boolean }): Promise<Cgroups> {
  const { log } = options;
  const hierarchies = options.isUsed === false ? [] : await findHierarchies(options.name);
  const of = (controller: Controller): Hierarchy | undefined =>
    hierarchies.find(({ controllers }) => controllers.includes(controller));

  async function write(id: string, controller: Controller, files: Record<string, string>): Promise<void> {
    const hierarchy = of(controller);
    if (!hierarchy) return;
    for (const [file, text] of Object.entries(files))
      await writeFile(join(hierarchy.folder, id, file), text).catch((error: unknown) =>
        log.warn({ err: error, instanceId: id, file }, "limit not set"),
      );
  }

  async function setShare(id: string, share: number): Promise<void> {
    const { file, weight } = weightOf(of("cpu"), share);
    await write(id, "cpu", { [file]: weight });
  }

  async function read(id: string, controller: Controller, file: string): Promise<string> {
    const hierarchy = of(controller);
    return hierarchy ? readFile(join(hierarchy.folder, id, file), "utf8").catch(() => "") : "";
  }

  async function makeGroups(id: string): Promise<void> {
    for (const hierarchy of hierarchies) {
      await makeOurs(hierarchy);
      await mkdir(join(hierarchy.folder, id), { recursive: true });
    }
    await setWeight();
  }

  async function removeGroups(id: string): Promise<void> {
    for (const { folder } of hierarchies) {
      await removeGroup(join(folder, id), log);
      await rmdir(folder).catch(() => undefined); // the last one takes our folder with it
    }
  }

  /**
   * To the kernel a group is one program, however many are in it: a crowd of bots would starve beside two others. But one
   * that loads must not have the weight of those that wait for a session: whoever starts one waits for gateway and controller.
   */
  async function setWeight(): Promise<void> {
    const hierarchy = of("cpu");
    if (!hierarchy) return;
    const { file, weight } = weightOf(hierarchy, programs ?? 1);
    await writeFile(join(hierarchy.folder, file), weight).catch((error: NodeJS.ErrnoException) => {
      // Without instances there is no group.
      if (error.code !== "ENOENT") log.warn({ err: error, file }, "weight of the instances not set");
    });
  }

  let programs: number | undefined; // an earlier controller may have set another
  let turn: Promise<unknown> = Promise.resolve();
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = turn.then(run);
    turn = result.catch(() => undefined);
    return result;
  }

  return {
    can: { cpu: !!of("cpu"), memory: !!of("memory"), pids: !!of("pids") },
    async limit(id, { cpuMillicores, memoryMib, processes, share }) {
      await inTurn(() => makeGroups(id)).catch((error: unknown) =>
        log.warn({ err: error, instanceId: id }, "control group not made"),
      );
      if (cpuMillicores !== undefined) {
        const quotaUs = String(Math.round((cpuMillicores * PERIOD_US) / 1000));
        const files: Record<string, string> =
          of("cpu")?.version === 2
            ? { "cpu.max": `${quotaUs} ${PERIOD_US}` }
            : { "cpu.cfs_period_us": String(PERIOD_US), "cpu.cfs_quota_us": quotaUs };
        await write(id, "cpu", files);
      }
      if (share !== undefined) await setShare(id, share);
      if (memoryMib !== undefined) {
        const bytes = String(memoryMib * 1024 * 1024);
        const files: Record<string, string> =
          of("memory")?.version === 2 ? { "memory.max": bytes } : { "memory.limit_in_bytes": bytes };
        await write(id, "memory", files);
      }
      if (processes !== undefined) await write(id, "pids", { "pids.max": String(processes) });
    },
    share: setShare,
    async add(id, pid) {
      for (const { folder } of hierarchies)
        await writeFile(join(folder, id, "cgroup.procs"), String(pid)).catch(
          (error: NodeJS.ErrnoException) => {
            // It may have ended already, which is not ours to report.
            if (error.code !== "ESRCH") log.warn({ err: error, instanceId: id }, "process not limited");
          },
        );
    },
    async ranOutOfMemory(id) {
      const file = of("memory")?.version === 2 ? "memory.events" : "memory.oom_control";
      const [, count] = /^oom_kill (\d+)$/m.exec(await read(id, "memory", file)) ?? [];
      return Number(count ?? 0) > 0;
    },
    async processes(id) {
      const [first] = hierarchies;
      if (!first) return [];
      const text = await readFile(join(first.folder, id, "cgroup.procs"), "utf8").catch(() => "");
      return text.split("\n").filter(Boolean).map(Number);
    },
    remove: (id) => inTurn(() => removeGroups(id)),
    async list() {
      return [...new Set((await Promise.all(hierarchies.map(groupsIn))).flat())];
    },
    weigh(atWork) {
      const most = Math.min(availableParallelism() * PROGRAMS_PER_CORE, PROGRAMS_MAX);
      const count = Math.min(Math.max(atWork, 1), most);
      if (count === programs) return;
      programs = count;
      void inTurn(setWeight);
    },
  };
}

/** As much as so many programs have. */
function weightOf(hierarchy: Hierarchy | undefined, programs: number): { file: string; weight: string } {
  const [file, one] = hierarchy?.version === 2 ? ["cpu.weight", 100] : ["cpu.shares", 1_024];
  return { file, weight: String(Math.round(one * programs)) };
}

async function groupsIn({ folder }: Hierarchy): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

async function removeGroup(folder: string, log: Log): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await rmdir(folder);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return;
      if (code !== "EBUSY" || tries >= REMOVE_TRIES)
        return log.warn({ err: error }, "control group left behind");
      await pause(REMOVE_AGAIN_MS);
    }
  }
}
