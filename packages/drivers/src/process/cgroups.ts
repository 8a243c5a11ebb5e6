import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@vocalhost/base/log";
import { kill } from "./end-process.ts";
import { findTree, makeOurs, type Controller } from "./cgroup-tree.ts";

/** The kernel's control groups, version 2: limits, and the end of all that is in one. As far as this machine lets us. */
export interface Cgroups {
  /** False where this machine lets us make none. */
  readonly areThere: boolean;
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
  /** Ends all of them, however fast they start others. */
  kill(id: string): Promise<void>;
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
  const tree = options.isUsed === false ? undefined : await findTree(options.name);
  const fileOf = (id: string, file: string): string => join(tree?.folder ?? "", id, file);
  const has = (controller: Controller): boolean => tree?.controllers.includes(controller) ?? false;

  async function write(id: string, controller: Controller, file: string, text: string): Promise<void> {
    if (!has(controller)) return;
    await writeFile(fileOf(id, file), text).catch((error: unknown) =>
      log.warn({ err: error, instanceId: id, file }, "limit not set"),
    );
  }

  const setShare = (id: string, share: number): Promise<void> =>
    write(id, "cpu", "cpu.weight", weightOf(share));

  async function makeGroup(id: string): Promise<void> {
    if (!tree) return;
    await makeOurs(tree);
    await mkdir(fileOf(id, ""), { recursive: true });
    await setWeight();
  }

  async function removeGroup(id: string): Promise<void> {
    if (!tree) return;
    await removeWhenEmpty(fileOf(id, ""), log);
    await rmdir(tree.folder).catch(() => undefined); // the last one takes our folder with it
  }

  /**
   * To the kernel a group is one program, however many are in it: a crowd of bots would starve beside two others. But one
   * that loads must not have the weight of those that wait for a session: whoever starts one waits for gateway and controller.
   */
  async function setWeight(): Promise<void> {
    if (!has("cpu")) return;
    await writeFile(fileOf("", "cpu.weight"), weightOf(programs ?? 1)).catch(
      (error: NodeJS.ErrnoException) => {
        // Without instances there is no group.
        if (error.code !== "ENOENT") log.warn({ err: error }, "weight of the instances not set");
      },
    );
  }

  async function processes(id: string): Promise<number[]> {
    if (!tree) return [];
    const text = await readFile(fileOf(id, "cgroup.procs"), "utf8").catch(() => "");
    return text.split("\n").filter(Boolean).map(Number);
  }

  let programs: number | undefined; // an earlier controller may have set another
  let turn: Promise<unknown> = Promise.resolve();
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = turn.then(run);
    turn = result.catch(() => undefined);
    return result;
  }

  return {
    areThere: tree !== undefined,
    can: { cpu: has("cpu"), memory: has("memory"), pids: has("pids") },
    async limit(id, limits) {
      await inTurn(() => makeGroup(id)).catch((error: unknown) =>
        log.warn({ err: error, instanceId: id }, "control group not made"),
      );
      const { cpuMillicores, memoryMib, share } = limits;
      if (cpuMillicores !== undefined) {
        const quotaUs = Math.round((cpuMillicores * PERIOD_US) / 1000);
        await write(id, "cpu", "cpu.max", `${quotaUs} ${PERIOD_US}`);
      }
      if (share !== undefined) await setShare(id, share);
      if (memoryMib !== undefined) await write(id, "memory", "memory.max", String(memoryMib * 1024 * 1024));
      if (limits.processes !== undefined) await write(id, "pids", "pids.max", String(limits.processes));
    },
    share: setShare,
    async add(id, pid) {
      if (!tree) return;
      await writeFile(fileOf(id, "cgroup.procs"), String(pid)).catch((error: NodeJS.ErrnoException) => {
        // It may have ended already, which is not ours to report.
        if (error.code !== "ESRCH") log.warn({ err: error, instanceId: id }, "process not limited");
      });
    },
    async ranOutOfMemory(id) {
      if (!has("memory")) return false;
      const events = await readFile(fileOf(id, "memory.events"), "utf8").catch(() => "");
      const [, count] = /^oom_kill (\d+)$/m.exec(events) ?? [];
      return Number(count ?? 0) > 0;
    },
    processes,
    async kill(id) {
      if (!tree) return;
      await writeFile(fileOf(id, "cgroup.kill"), "1", { flag: "r+" }).catch(async () => {
        for (const pid of await processes(id)) kill(pid); // a kernel before 5.14
      });
    },
    remove: (id) => inTurn(() => removeGroup(id)),
    async list() {
      const entries = tree ? await readdir(tree.folder, { withFileTypes: true }).catch(() => []) : [];
      return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
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
function weightOf(programs: number): string {
  return String(Math.round(100 * programs));
}

async function removeWhenEmpty(folder: string, log: Log): Promise<void> {
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
