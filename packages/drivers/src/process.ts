import { createHash } from "node:crypto";
import { mkdir, readdir, realpath, rename } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { inheritedArguments } from "@vocalhost/base/inherited-arguments";
import type { Log } from "@vocalhost/base/log";
import { type UserRange, userOf } from "./process/own-users.ts";
import { removeTree } from "@vocalhost/base/remove-tree";
import type { Driver, OpenedDriver } from "./driver.ts";
import { openCgroups, type Cgroups } from "./process/cgroups.ts";
import { endProcess, killLeftovers, endUser } from "./process/end-process.ts";
import { createFence } from "./local/fence.ts";
import { openFolderRecords } from "./process/folder-records.ts";
import { isId, requireId, writeJsonAtOnce } from "./local/instance-folder.ts";
import { folderFiles, type ProcessFile } from "./process/instance-folder.ts";
import { createKnownProcesses } from "./process/known-processes.ts";
import { createLoadingBehind } from "./process/loading-behind.ts";
import { makeInstance, type MakingContext } from "./process/make-instance.ts";
import { watchMemory, type WatchedMemory } from "./process/watch-memory.ts";
import { isRunning, type ProcessIdentity } from "./local/process-identity.ts";

const BY_WATCH = "a bot that has more memory than its profile is ended by the service, ";
const FOUND_BY_GROUP = "what they start is found by its control group";
const FOUND_BY_USER = "what they start is found by its user";
const FOUND_BY_PROCESS_GROUP =
  "what they start is only found by its process group: what leaves that outlives them, unless they have users of their own";

export interface ProcessDriverOptions {
  /** One folder per instance in it. */
  folder: string;
  /** Each instance runs as one of them. @default as who we are */
  users?: UserRange | undefined;
  /** Folders of other drivers whose instances run as the same users. */
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
  /** How long instances load behind others at most. @default 10 s */
  loadingBehindMs?: number;
}

/** Instances as child processes of this machine, for code that is trusted: there is no network policy around them. */
export async function openProcessDriver(options: ProcessDriverOptions): Promise<OpenedDriver> {
  const { log } = options;
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const root = await realpath(resolve(options.folder));
  const name = `vocalhost-${createHash("sha256").update(root).digest("hex").slice(0, 12)}`;
  const cgroups = await openCgroups({ name, log, isUsed: options.usesCgroups ?? true });
  if (!cgroups.can.pids)
    log.warn(
      {},
      `${cgroups.areThere ? "control groups of version 2 have no controllers here" : "no writable control groups"}: ${cgroups.can.memory ? "" : BY_WATCH}nothing limits a bot's processors, and ${
        cgroups.areThere ? FOUND_BY_GROUP : options.users ? FOUND_BY_USER : FOUND_BY_PROCESS_GROUP
      }`,
    );
  const loadingBehind = createLoadingBehind(cgroups, { maxMs: options.loadingBehindMs });
  const known = createKnownProcesses({ root, cgroups, loadingBehind, log });
  const creating = new Map<string, Promise<void>>();
  let listed: readonly string[] = [];
  const fence = createFence(root);
  const listeners = new Set<() => void>();
  await takeOverGroups(cgroups, root);
  const making: MakingContext = {
    root,
    users: options.users,
    usersAlsoIn: options.usersAlsoIn ?? [],
    execPath: options.execPath ?? process.execPath,
    nodeArguments: options.nodeArguments ?? inheritedArguments(),
    compileCache: options.compileCache,
    cgroups,
    fence,
    known,
    loadingBehind,
    changed: () => listeners.forEach((listener) => listener()),
  };

  const driver: Driver = {
    capabilities: {
      runs: ["build"],
      cpuLimit: cgroups.can.cpu,
      memoryLimit: cgroups.can.memory,
      isolation: "none",
    },
    cores: availableParallelism(),
    fence: (epoch) => fence.raise(epoch),
    newestEpoch: async () => fence.newest(),
    onChange: (listener) => void listeners.add(listener),
    create(spec) {
      const underWay = creating.get(spec.id);
      if (underWay) return underWay;
      const made = makeInstance(spec, making).finally(() => creating.delete(spec.id));
      creating.set(spec.id, made);
      return made;
    },
    async list() {
      const ids = await idsIn(root);
      known.keepOnly(ids);
      listed = ids;
      const seen = await Promise.all(ids.filter((id) => !creating.has(id)).map((id) => known.see(id)));
      return seen.filter((instance) => instance !== undefined);
    },
    inUse(ids) {
      cgroups.weigh(listed.filter((id) => ids.has(id)).length); // others are another region's
      loadingBehind.awaited(ids);
    },
    async destroy(id, { graceMs }) {
      fence.check();
      await creating.get(requireId(id))?.catch(() => undefined);
      const program = await known.find(id);
      if (!program) return;
      await endProcess(program, graceMs);
      await known.about(id).exited;
      await endLeftovers(id, program);
    },
    async forget(id) {
      const program = await known.find(requireId(id));
      if (program && isRunning(program)) throw new Error(`Instance ${id} still runs`);
      await known.about(id).exited;
      await endLeftovers(id, program); // before its folder goes, and with that its user
      await cgroups.remove(id);
      await removeOrSetAside(id);
      known.drop(id);
    },
  };

  /** By all that is there to find it with: what has no group of ours may have a user, and the other way round. */
  async function endLeftovers(id: string, program: ProcessFile | undefined): Promise<void> {
    if (program) killLeftovers(program.pid);
    await cgroups.kill(id);
    const uid = options.users && userOf(join(root, id), options.users);
    if (uid !== undefined) await endUser(uid);
  }

  async function running(): Promise<WatchedMemory[]> {
    const found = await Promise.all(listed.map(async (id) => ({ id, program: await known.find(id) })));
    return found.flatMap(({ id, program }) =>
      program?.memoryMib !== undefined && isRunning(program)
        ? [{ id, program, memoryMib: program.memoryMib }]
        : [],
    );
  }

  async function endOverMemory(
    { id, program }: WatchedMemory,
    started: readonly ProcessIdentity[],
  ): Promise<void> {
    fence.check();
    writeJsonAtOnce({}, root, id, folderFiles.overMemory);
    await Promise.all([program, ...started].map((each) => endProcess(each, 0)));
  }

  // Out of the way of all others; a person has to look at it.
  async function removeOrSetAside(id: string): Promise<void> {
    const folder = join(root, id);
    try {
      await removeTree(folder);
    } catch (error) {
      const aside = join(root, `.aside-${id}`);
      await rename(folder, aside);
      log.error(
        { err: error, instanceId: id, folder: aside },
        "instance's folder cannot be removed, set aside",
      );
    }
  }

  const records = openFolderRecords({
    root,
    async isRunning(id) {
      const program = await known.find(id);
      return program !== undefined && isRunning(program);
    },
  });
  const watch = cgroups.can.memory ? undefined : watchMemory({ running, end: endOverMemory, log });
  return {
    driver,
    records,
    async [Symbol.asyncDispose]() {
      watch?.[Symbol.dispose]();
      listeners.clear();
    },
  };
}

async function idsIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() && isId(entry.name) ? [entry.name] : []));
}

// Groups of instances whose folder is gone go; the others may still load behind, and who began that is gone too.
async function takeOverGroups(cgroups: Cgroups, root: string): Promise<void> {
  const ids = new Set(await idsIn(root));
  for (const id of await cgroups.list())
    if (ids.has(id)) await cgroups.share(id, 1);
    else await cgroups.remove(id);
}
