import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@vocalhost/base/log";
import { kill } from "./end-process.ts";
import { findTree, makeOurs, type CgroupTree, type Controller } from "./cgroup-tree.ts";

export interface CgroupLimits {
  cpuMillicores?: number;
  memoryMib?: number;
  processes?: number;
  /** CPU weight beside other instances; 1 is usual. */
  share?: number;
}

const PERIOD_US = 100_000;
// The most, however many have a session: gateway and controller are one program each, and callers of every bot need those.
const PROGRAMS_PER_CORE = 2;
const PROGRAMS_MAX = 100; // the kernel knows no more
const REMOVE_TRIES = 20; // a group is busy for a moment after its last process
const REMOVE_AGAIN_MS = 50;

export async function openCgroups(options: { name: string; log: Log; isUsed?: boolean }): Promise<Cgroups> {
  return new Cgroups(options.isUsed === false ? undefined : await findTree(options.name), options.log);
}

/** Control groups version 2, as far as this machine allows them: limits, and the end of all processes in a group. */
export class Cgroups {
  /** False where this machine allows none. */
  readonly areThere: boolean;
  readonly can: Record<Controller, boolean>;
  readonly #tree: CgroupTree | undefined;
  readonly #log: Log;
  #programs: number | undefined; // an earlier controller may have set another weight
  #turn: Promise<unknown> = Promise.resolve();

  constructor(tree: CgroupTree | undefined, log: Log) {
    const has = (controller: Controller): boolean => tree?.controllers.includes(controller) ?? false;
    this.areThere = tree !== undefined;
    this.can = { cpu: has("cpu"), memory: has("memory"), pids: has("pids") };
    this.#tree = tree;
    this.#log = log;
  }

  /** Makes the group, or changes the limits of the one that is there. */
  async limit(id: string, { cpuMillicores, memoryMib, processes, share }: CgroupLimits): Promise<void> {
    await this.#inTurn(() => this.#makeGroup(id)).catch((error: unknown) =>
      this.#log.warn({ err: error, instanceId: id }, "control group not made"),
    );
    if (cpuMillicores !== undefined) {
      const quotaUs = Math.round((cpuMillicores * PERIOD_US) / 1000);
      await this.#write(id, { controller: "cpu", file: "cpu.max", text: `${quotaUs} ${PERIOD_US}` });
    }
    if (share !== undefined) await this.share(id, share);
    if (memoryMib !== undefined) {
      const text = String(memoryMib * 1024 * 1024);
      await this.#write(id, { controller: "memory", file: "memory.max", text });
    }
    if (processes !== undefined)
      await this.#write(id, { controller: "pids", file: "pids.max", text: String(processes) });
  }

  /** Sets the CPU weight beside other instances; 1 is usual. Makes no group. */
  share(id: string, share: number): Promise<void> {
    return this.#write(id, { controller: "cpu", file: "cpu.weight", text: weightOf(share) });
  }

  async add(id: string, pid: number): Promise<void> {
    if (!this.#tree) return;
    await writeFile(this.#fileOf(id, "cgroup.procs"), String(pid)).catch((error: NodeJS.ErrnoException) => {
      // ESRCH: it has ended already, which the driver reports elsewhere.
      if (error.code !== "ESRCH") this.#log.warn({ err: error, instanceId: id }, "process not limited");
    });
  }

  /** Tells whether the kernel killed a process of the group because the group had no memory left. */
  async ranOutOfMemory(id: string): Promise<boolean> {
    if (!this.can.memory) return false;
    const events = await readFile(this.#fileOf(id, "memory.events"), "utf8").catch(() => "");
    const [, count] = /^oom_kill (\d+)$/m.exec(events) ?? [];
    return Number(count ?? 0) > 0;
  }

  /** Returns the processes of the group. */
  async processes(id: string): Promise<number[]> {
    if (!this.#tree) return [];
    const text = await readFile(this.#fileOf(id, "cgroup.procs"), "utf8").catch(() => "");
    return text.split("\n").filter(Boolean).map(Number);
  }

  /** Ends all processes of the group, however fast they start others. */
  async kill(id: string): Promise<void> {
    if (!this.#tree) return;
    await writeFile(this.#fileOf(id, "cgroup.kill"), "1", { flag: "r+" }).catch(async () => {
      for (const pid of await this.processes(id)) kill(pid); // a kernel before 5.14
    });
  }

  /** Removes the group, which must be empty. */
  remove(id: string): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#tree) return;
      await removeWhenEmpty(this.#fileOf(id, ""), this.#log);
      await rmdir(this.#tree.folder).catch(() => undefined); // succeeds for the last group
    });
  }

  async list(): Promise<string[]> {
    const folder = this.#tree?.folder;
    const entries = folder ? await readdir(folder, { withFileTypes: true }).catch(() => []) : [];
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  }

  /** Sets the CPU weight of all instances together: they count as many programs as have a session. */
  weigh(busy: number): void {
    const most = Math.min(availableParallelism() * PROGRAMS_PER_CORE, PROGRAMS_MAX);
    const count = Math.min(Math.max(busy, 1), most);
    if (count === this.#programs) return;
    this.#programs = count;
    void this.#inTurn(() => this.#setWeight());
  }

  #fileOf(id: string, file: string): string {
    return join(this.#tree?.folder ?? "", id, file);
  }

  async #write(
    id: string,
    { controller, file, text }: { controller: Controller; file: string; text: string },
  ): Promise<void> {
    if (!this.can[controller]) return;
    await writeFile(this.#fileOf(id, file), text).catch((error: unknown) =>
      this.#log.warn({ err: error, instanceId: id, file }, "limit not set"),
    );
  }

  async #makeGroup(id: string): Promise<void> {
    if (!this.#tree) return;
    await makeOurs(this.#tree);
    await mkdir(this.#fileOf(id, ""), { recursive: true });
    await this.#setWeight();
  }

  /**
   * To the kernel a group is one program, however many processes are in it: a hundred bots would starve beside two other
   * programs. Instances that load or wait add no weight, because the caller of a start waits for gateway and controller.
   */
  async #setWeight(): Promise<void> {
    if (!this.can.cpu) return;
    await writeFile(this.#fileOf("", "cpu.weight"), weightOf(this.#programs ?? 1)).catch(
      (error: NodeJS.ErrnoException) => {
        // Without instances there is no group.
        if (error.code !== "ENOENT") this.#log.warn({ err: error }, "weight of the instances not set");
      },
    );
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(run);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

/** Returns the CPU weight of so many programs. */
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
