import { AliveRecord, ExitRecord, instanceFiles, isAppError } from "@vocalhost/protocol";
import { createHash } from "node:crypto";
import type { ChildProcess } from "node:child_process";
import { mkdir, readdir, readFile, realpath, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { inheritedArguments } from "../inherited-arguments.ts";
import type { Log } from "../log.ts";
import type { Driver, InstanceExit, InstanceSpec, SeenInstance } from "./driver.ts";
import { openCgroups, type Cgroups } from "./process/cgroups.ts";
import { endProcess, killLeftovers } from "./process/end-process.ts";
import { createFence } from "./process/fence.ts";
import { findEntry } from "./process/find-entry.ts";
import {
  ExitedFile,
  folderFiles,
  MakerFile,
  ProcessFile,
  readJson,
  requireId,
  writeJson,
  writeJsonAtOnce,
} from "./process/instance-folder.ts";
import { readLastOutput, readOutput } from "./process/output-file.ts";
import { findByFolder, identityOf, isRunning } from "./process/process-identity.ts";
import { spawnInstance } from "./process/spawn-instance.ts";
import { watchAddress } from "./process/watch-address.ts";

export interface ProcessDriverOptions {
  /** One folder per instance in it. */
  folder: string;
  log: Log;
  /** @default the Node we run on */
  execPath?: string;
  /** @default the conditions we run with */
  nodeArguments?: string[];
}

/** Memory of one driver object; everything in it can be read from the folders again. */
interface Known {
  process?: ProcessFile;
  address?: string;
  exit?: InstanceExit;
  /** Set when it is our child: resolves when its end is written down. */
  exited?: Promise<void>;
}

const LAST_OUTPUT_BYTES = 4 * 1024;
const PROCESSES_MAX = 256;
const LOADING_MILLICORES = 2_000; // until it takes requests; the profile's half core would double a cold start

/** Instances as child processes of this machine, for code that is trusted: there is no wall around them. */
export async function openProcessDriver(options: ProcessDriverOptions): Promise<Driver> {
  const { log } = options;
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const root = await realpath(resolve(options.folder));
  const name = `vocalhost-${createHash("sha256").update(root).digest("hex").slice(0, 12)}`;
  const cgroups = await openCgroups({ name, log });
  const known = new Map<string, Known>();
  const creating = new Map<string, Promise<void>>();
  const fence = createFence(root);
  const listeners = new Set<() => void>();
  const changed = (): void => listeners.forEach((listener) => listener());
  await sweepGroups(cgroups, root);

  function knownOf(id: string): Known {
    const found = known.get(id);
    if (found) return found;
    const fresh: Known = {};
    known.set(id, fresh);
    return fresh;
  }

  async function processOf(id: string): Promise<ProcessFile | undefined> {
    const about = knownOf(id);
    about.process ??= await readJson(ProcessFile, root, id, folderFiles.process);
    return about.process ?? adopt(id);
  }

  // Its maker was killed between starting it and writing that down.
  async function adopt(id: string): Promise<ProcessFile | undefined> {
    const maker = await readJson(MakerFile, root, id, folderFiles.maker);
    if (!maker || isRunning(maker)) return undefined;
    const found = findByFolder(join(root, id));
    if (!found) return undefined;
    log.warn({ instanceId: id, pid: found.pid }, "found a process nobody had written down");
    const program = { ...found, cpuMillicores: LOADING_MILLICORES };
    await writeJson(program, root, id, folderFiles.process);
    return (knownOf(id).process = program);
  }

  async function create(spec: InstanceSpec): Promise<void> {
    const folder = join(root, requireId(spec.id));
    fence.check();
    const entry = findEntry(spec.source);
    const isNew = await makeFolder(folder);
    if (!isNew && (await isTaken(spec.id))) return;
    if (!isNew) await rm(folder, { recursive: true, force: true }).then(() => makeFolder(folder));
    known.delete(spec.id);
    await writeJson(identityOf(process.pid), folder, folderFiles.maker);
    try {
      await launch(spec, { folder, entry });
    } catch (error) {
      await cgroups.remove(spec.id);
      await rm(folder, { recursive: true, force: true });
      known.delete(spec.id);
      if (isAppError(error)) throw error;
      throw new Error(`The process could not be started: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Somebody made it, or is about to. */
  async function isTaken(id: string): Promise<boolean> {
    if (await processOf(id)) return true;
    const maker = await readJson(MakerFile, root, id, folderFiles.maker);
    return maker !== undefined && maker.pid !== process.pid && isRunning(maker);
  }

  async function launch(
    spec: InstanceSpec,
    { folder, entry }: { folder: string; entry: string },
  ): Promise<void> {
    const { id, memoryMib } = spec;
    const loadingMillicores = Math.max(LOADING_MILLICORES, spec.cpuMillicores);
    await cgroups.limit(id, { cpuMillicores: loadingMillicores, memoryMib, processes: PROCESSES_MAX });
    const child = await spawnInstance({
      spec,
      folder,
      entry,
      execPath: options.execPath ?? process.execPath,
      nodeArguments: options.nodeArguments ?? inheritedArguments(),
    });
    const program = { ...identityOf(child.pid), cpuMillicores: spec.cpuMillicores };
    writeJsonAtOnce(program, folder, folderFiles.process);
    const about = knownOf(id);
    about.process = program;
    about.exited = recordExit(id, child);
    const unwatch = watchAddress(folder, changed);
    void about.exited.then(unwatch).then(changed);
    try {
      fence.check(); // a newer leader may have come while we were at it, and may not have seen this one
    } catch (error) {
      await endProcess(program, 0);
      throw error;
    }
    await cgroups.add(id, child.pid);
  }

  async function recordExit(id: string, child: ChildProcess): Promise<void> {
    const { promise, resolve: ended } = Promise.withResolvers<Pick<ExitedFile, "code" | "signal">>();
    child.once("exit", (code, signal) => ended({ code, signal }));
    const how = await promise;
    const outOfMemory = await cgroups.ranOutOfMemory(id);
    // Gone with its folder if it was forgotten meanwhile.
    await writeJson({ ...how, outOfMemory }, root, id, folderFiles.exited).catch(() => undefined);
  }

  async function exitOf(id: string): Promise<InstanceExit> {
    const about = knownOf(id);
    if (about.exit) return about.exit;
    await about.exited;
    const written = await readJson(ExitedFile, root, id, folderFiles.exited);
    const outOfMemory = written?.outOfMemory ?? (await cgroups.ranOutOfMemory(id));
    const lastOutput = await readLastOutput(join(root, id), LAST_OUTPUT_BYTES);
    return (about.exit = { code: null, signal: null, ...written, outOfMemory, lastOutput });
  }

  async function see(id: string): Promise<SeenInstance | undefined> {
    const program = await processOf(id);
    const about = knownOf(id);
    if (!program && (await isTaken(id))) return undefined; // being made by another controller
    if (!program || !isRunning(program))
      return { id, state: "exited", address: about.address, exit: await exitOf(id) };
    if (about.address === undefined) {
      const address = await readFile(join(root, id, instanceFiles.address), "utf8").catch(() => undefined);
      if (address !== undefined) {
        about.address = address;
        await cgroups.limit(id, { cpuMillicores: program.cpuMillicores });
      }
    }
    return { id, state: "running", address: about.address, exit: undefined };
  }

  return {
    name: "process",
    capabilities: { cpuLimit: cgroups.can.cpu, memoryLimit: cgroups.can.memory, isolation: "none" },
    fence: (epoch) => fence.raise(epoch),
    onChange: (listener) => void listeners.add(listener),
    create(spec) {
      const underWay = creating.get(spec.id);
      if (underWay) return underWay;
      const making = create(spec).finally(() => creating.delete(spec.id));
      creating.set(spec.id, making);
      return making;
    },
    async list() {
      const ids = await idsIn(root);
      for (const id of known.keys()) if (!ids.includes(id)) known.delete(id);
      const seen = await Promise.all(ids.filter((id) => !creating.has(id)).map(see));
      return seen.filter((instance) => instance !== undefined);
    },
    async destroy(id, { graceMs }) {
      fence.check();
      await creating.get(requireId(id))?.catch(() => undefined);
      const program = await processOf(id);
      if (!program) return;
      await endProcess(program, graceMs);
      await knownOf(id).exited;
      await endLeftovers(cgroups, id, program);
    },
    async forget(id) {
      const program = await processOf(requireId(id));
      if (program) {
        if (isRunning(program)) throw new Error(`Instance ${id} still runs`);
        await knownOf(id).exited;
        await endLeftovers(cgroups, id, program);
      }
      await cgroups.remove(id);
      await rm(join(root, id), { recursive: true, force: true });
      known.delete(id);
    },
    exitRecord: (id, sessionId) =>
      readJson(ExitRecord, root, requireId(id), instanceFiles.exit(requireId(sessionId))),
    aliveRecord: (id) => readJson(AliveRecord, root, requireId(id), instanceFiles.alive),
    async output(id, position) {
      const program = await processOf(requireId(id));
      return readOutput(join(root, id), { position, isRunning: !!program && isRunning(program) });
    },
  };
}

async function makeFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function idsIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() && !entry.name.startsWith(".") ? [entry.name] : []));
}

async function endLeftovers(cgroups: Cgroups, id: string, { pid }: ProcessFile): Promise<void> {
  killLeftovers(pid);
  for (const left of await cgroups.processes(id)) await endProcess(identityOf(left), 0);
}

// Groups of instances whose folder is gone.
async function sweepGroups(cgroups: Cgroups, root: string): Promise<void> {
  const ids = new Set(await idsIn(root));
  for (const id of await cgroups.list()) if (!ids.has(id)) await cgroups.remove(id);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
