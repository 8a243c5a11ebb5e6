import { createHash } from "node:crypto";
import { mkdir, readdir, realpath, rename } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { inheritedArguments } from "@vocalhost/base/inherited-arguments";
import type { Log } from "@vocalhost/base/log";
import { type UserRange, userOf } from "./process/own-users.ts";
import { removeTree } from "@vocalhost/base/remove-tree";
import type { Driver, DriverCapabilities, InstanceSpec, OpenedDriver, SeenInstance } from "./driver.ts";
import { openCgroups, type Cgroups } from "./process/cgroups.ts";
import { endProcess, killLeftovers, endUser } from "./process/end-process.ts";
import { createFence, type Fence } from "./local/fence.ts";
import { openFolderRecords } from "./process/folder-records.ts";
import { isId, requireId, writeJsonAtOnce } from "./local/instance-folder.ts";
import { folderFiles, type ProcessFile } from "./process/instance-folder.ts";
import { KnownProcesses } from "./process/known-processes.ts";
import { createLoadingBehind, type LoadingBehind } from "./process/loading-behind.ts";
import { makeInstance, type MakingContext } from "./process/make-instance.ts";
import { watchMemory, type WatchedMemory } from "./process/watch-memory.ts";
import { isRunning, type ProcessIdentity } from "./local/process-identity.ts";

const BY_WATCH = "a bot that has more memory than its profile is ended by the service, ";
const FOUND_BY_GROUP = "what they start is found by its control group";
const FOUND_BY_USER = "what they start is found by its user";
const FOUND_BY_PROCESS_GROUP =
  "what they start is only found by its process group: what leaves that outlives them, unless they have users of their own";

export interface ProcessDriverOptions {
  /** Holds one folder per instance. */
  folder: string;
  /** Each instance runs as one of them. @default the service's own user */
  users?: UserRange | undefined;
  /** Folders of other drivers whose instances run as users of the same range. */
  usersAlsoIn?: readonly string[];
  /** Folder of compiled code that all instances share, where they have no users. @default one per build */
  compileCache?: string | undefined;
  log: Log;
  /** @default the Node we run on */
  execPath?: string;
  /** @default the conditions we run with */
  nodeArguments?: string[];
  /** False: does as on a machine without control groups. @default true */
  usesCgroups?: boolean;
  /** The longest time that an instance loads with a low CPU weight. @default 10 s */
  loadingBehindMs?: number;
}

/** Opens a driver whose instances are child processes, for code that is trusted: no network policy surrounds them. */
export async function openProcessDriver(options: ProcessDriverOptions): Promise<OpenedDriver> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const root = await realpath(resolve(options.folder));
  const name = `vocalhost-${createHash("sha256").update(root).digest("hex").slice(0, 12)}`;
  const cgroups = await openCgroups({ name, log: options.log, isUsed: options.usesCgroups ?? true });
  if (!cgroups.can.pids) options.log.warn({}, whatIsMissing(cgroups, options));
  await takeOverGroups(cgroups, root);
  const driver = new ProcessDriver(root, cgroups, options);
  const records = openFolderRecords({ root, isRunning: (id) => driver.isRunning(id) });
  return { driver, records, [Symbol.asyncDispose]: async () => driver[Symbol.dispose]() };
}

function whatIsMissing({ areThere, can }: Cgroups, { users }: ProcessDriverOptions): string {
  const why = areThere
    ? "control groups of version 2 have no controllers here"
    : "no writable control groups";
  const found = areThere ? FOUND_BY_GROUP : users ? FOUND_BY_USER : FOUND_BY_PROCESS_GROUP;
  return `${why}: ${can.memory ? "" : BY_WATCH}nothing limits a bot's processors, and ${found}`;
}

class ProcessDriver implements Driver, Disposable {
  readonly capabilities: DriverCapabilities;
  readonly cores = availableParallelism();
  readonly #root: string;
  readonly #cgroups: Cgroups;
  readonly #options: ProcessDriverOptions;
  readonly #fence: Fence;
  readonly #loadingBehind: LoadingBehind;
  readonly #known: KnownProcesses;
  readonly #making: MakingContext;
  readonly #watch: Disposable | undefined;
  readonly #creating = new Map<string, Promise<void>>();
  readonly #listeners = new Set<() => void>();
  #listed: readonly string[] = [];

  constructor(root: string, cgroups: Cgroups, options: ProcessDriverOptions) {
    const { log } = options;
    const { cpu, memory } = cgroups.can;
    this.capabilities = { runs: ["build"], cpuLimit: cpu, memoryLimit: memory, isolation: "none" };
    this.#root = root;
    this.#cgroups = cgroups;
    this.#options = options;
    this.#fence = createFence(root);
    this.#loadingBehind = createLoadingBehind(cgroups, { maxMs: options.loadingBehindMs });
    this.#known = new KnownProcesses({ root, cgroups, loadingBehind: this.#loadingBehind, log });
    this.#making = {
      root,
      users: options.users,
      usersAlsoIn: options.usersAlsoIn ?? [],
      execPath: options.execPath ?? process.execPath,
      nodeArguments: options.nodeArguments ?? inheritedArguments(),
      compileCache: options.compileCache,
      cgroups,
      fence: this.#fence,
      known: this.#known,
      loadingBehind: this.#loadingBehind,
      changed: () => this.#listeners.forEach((listener) => listener()),
    };
    const end = this.#endOverMemory.bind(this);
    this.#watch = memory ? undefined : watchMemory({ running: () => this.#running(), end, log });
  }

  async fence(epoch: number): Promise<void> {
    await this.#fence.raise(epoch);
  }

  async newestEpoch(): Promise<number> {
    return this.#fence.newest();
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  create(spec: InstanceSpec): Promise<void> {
    const underWay = this.#creating.get(spec.id);
    if (underWay) return underWay;
    const made = makeInstance(spec, this.#making).finally(() => this.#creating.delete(spec.id));
    this.#creating.set(spec.id, made);
    return made;
  }

  async list(): Promise<SeenInstance[]> {
    const ids = await idsIn(this.#root);
    this.#known.keepOnly(ids);
    this.#listed = ids;
    const made = ids.filter((id) => !this.#creating.has(id));
    const seen = await Promise.all(made.map((id) => this.#known.see(id)));
    return seen.filter((instance) => instance !== undefined);
  }

  inUse(ids: ReadonlySet<string>): void {
    this.#cgroups.weigh(this.#listed.filter((id) => ids.has(id)).length); // others are another region's
    this.#loadingBehind.awaited(ids);
  }

  async destroy(id: string, { graceMs }: { graceMs: number }): Promise<void> {
    this.#fence.check();
    await this.#creating.get(requireId(id))?.catch(() => undefined);
    const program = await this.#known.find(id);
    if (!program) return;
    await endProcess(program, graceMs);
    await this.#known.about(id).exited;
    await this.#endLeftovers(id, program);
  }

  async forget(id: string): Promise<void> {
    const program = await this.#known.find(requireId(id));
    if (program && isRunning(program)) throw new Error(`Instance ${id} still runs`);
    await this.#known.about(id).exited;
    await this.#endLeftovers(id, program); // while its folder still tells its user
    await this.#cgroups.remove(id);
    await this.#removeOrSetAside(id);
    this.#known.drop(id);
  }

  async isRunning(id: string): Promise<boolean> {
    const program = await this.#known.find(id);
    return program !== undefined && isRunning(program);
  }

  [Symbol.dispose](): void {
    this.#watch?.[Symbol.dispose]();
    this.#listeners.clear();
  }

  /** Ends what the instance started: by process group, control group and user, since each finds what others miss. */
  async #endLeftovers(id: string, program: ProcessFile | undefined): Promise<void> {
    const { users } = this.#options;
    if (program) killLeftovers(program.pid);
    await this.#cgroups.kill(id);
    const uid = users && userOf(join(this.#root, id), users);
    if (uid !== undefined) await endUser(uid);
  }

  async #running(): Promise<WatchedMemory[]> {
    const find = async (id: string) => ({ id, program: await this.#known.find(id) });
    const found = await Promise.all(this.#listed.map(find));
    return found.flatMap(({ id, program }) =>
      program?.memoryMib !== undefined && isRunning(program)
        ? [{ id, program, memoryMib: program.memoryMib }]
        : [],
    );
  }

  async #endOverMemory({ id, program }: WatchedMemory, started: readonly ProcessIdentity[]): Promise<void> {
    this.#fence.check();
    writeJsonAtOnce({}, this.#root, id, folderFiles.overMemory);
    await Promise.all([program, ...started].map((each) => endProcess(each, 0)));
  }

  /** A folder that cannot be removed is renamed, so that the driver goes on; the operator has to look at it. */
  async #removeOrSetAside(id: string): Promise<void> {
    const folder = join(this.#root, id);
    try {
      await removeTree(folder);
    } catch (error) {
      const aside = join(this.#root, `.aside-${id}`);
      await rename(folder, aside);
      this.#options.log.error(
        { err: error, instanceId: id, folder: aside },
        "instance's folder cannot be removed, set aside",
      );
    }
  }
}

async function idsIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() && isId(entry.name) ? [entry.name] : []));
}

// Removes the groups of instances without a folder. The others may still have the low share of a boot that the controller before us began.
async function takeOverGroups(cgroups: Cgroups, root: string): Promise<void> {
  const ids = new Set(await idsIn(root));
  for (const id of await cgroups.list())
    if (ids.has(id)) await cgroups.share(id, 1);
    else await cgroups.remove(id);
}
