import { instanceFiles } from "@vocalhost/protocol";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import type { Log } from "@vocalhost/base/log";
import type { InstanceExit, SeenInstance } from "../driver.ts";
import { LOADING_MILLICORES } from "../loading.ts";
import type { Cgroups } from "./cgroups.ts";
import type { LoadingBehind } from "./loading-behind.ts";
import { readPlainText } from "../local/guarded-files.ts";
import { readJson, writeJson } from "../local/instance-folder.ts";
import { ExitedFile, folderFiles, MakerFile, ProcessFile } from "./instance-folder.ts";
import { readLastOutput } from "../local/output-file.ts";
import { findByFolder, isRunning, starvedMsOf } from "../local/process-identity.ts";

/** Memory of one driver object; everything in it can be read from the folders again. */
export interface Known {
  process?: ProcessFile;
  address?: string;
  starvedMs?: number | undefined;
  exit?: InstanceExit;
  /** Set when it is our child. */
  child?: Pick<ChildProcess, "exitCode" | "signalCode">;
  /** Set when it is our child: resolves when its end is written down. */
  exited?: Promise<void>;
}

/** The processes in the folders, as far as they have been looked at. */
export interface KnownProcesses {
  about(id: string): Known;
  find(id: string): Promise<ProcessFile | undefined>;
  /** Somebody made it, or is about to. */
  isTaken(id: string): Promise<boolean>;
  /** Undefined while another controller makes it. */
  see(id: string): Promise<SeenInstance | undefined>;
  drop(id: string): void;
  keepOnly(ids: readonly string[]): void;
}

const ADDRESS_MAX_BYTES = 256;
const LAST_OUTPUT_BYTES = 4 * 1024;

/** Its number can be nobody else's before we have heard of its end, so that the kernel need not be asked. */
function isRunningChild({ child }: Known): boolean {
  return child?.exitCode === null && child.signalCode === null;
}

/** The bot can write there too. */
function isAddress(text: string): boolean {
  const [, host = "", port] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  return isIP(host) > 0 && Number(port) <= 65_535;
}

export function createKnownProcesses(options: {
  root: string;
  cgroups: Cgroups;
  loadingBehind: LoadingBehind;
  log: Log;
}): KnownProcesses {
  const { root, cgroups, loadingBehind, log } = options;
  const known = new Map<string, Known>();
  const unreadable = new Set<string>();

  function about(id: string): Known {
    const found = known.get(id);
    if (found) return found;
    const fresh: Known = {};
    known.set(id, fresh);
    return fresh;
  }

  async function find(id: string): Promise<ProcessFile | undefined> {
    const it = about(id);
    it.process ??= await readJson(ProcessFile, root, id, folderFiles.process);
    return it.process ?? adopt(id);
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
    return (about(id).process = program);
  }

  async function isTaken(id: string): Promise<boolean> {
    if (await find(id)) return true;
    const maker = await readJson(MakerFile, root, id, folderFiles.maker);
    return maker !== undefined && maker.pid !== process.pid && isRunning(maker);
  }

  async function exitOf(id: string): Promise<InstanceExit> {
    const it = about(id);
    if (it.exit) return it.exit;
    await it.exited;
    const written = await readJson(ExitedFile, root, id, folderFiles.exited);
    const outOfMemory =
      written?.outOfMemory ??
      ((await cgroups.ranOutOfMemory(id)) || existsSync(join(root, id, folderFiles.overMemory)));
    const lastOutput = await readLastOutput(join(root, id), LAST_OUTPUT_BYTES);
    return (it.exit = { code: null, signal: null, ...written, outOfMemory, lastOutput });
  }

  /** One that cannot be looked at is told as far as it is known, so that it is ended and forgotten like any other. */
  async function see(id: string): Promise<SeenInstance | undefined> {
    try {
      return await look(id);
    } catch (error) {
      if (!unreadable.has(id)) log.error({ err: error, instanceId: id }, "instance cannot be looked at");
      unreadable.add(id);
      const { process: program, address } = about(id);
      if (program && isRunning(program)) return { id, state: "running", address, exit: undefined };
      const exit = { code: null, signal: null, outOfMemory: false, lastOutput: "" };
      return { id, state: "exited", address, exit };
    }
  }

  async function look(id: string): Promise<SeenInstance | undefined> {
    const program = await find(id);
    const it = about(id);
    if (!program && (await isTaken(id))) return undefined;
    if (!program || !(isRunningChild(it) || isRunning(program)))
      return { id, state: "exited", address: it.address, exit: await exitOf(id) };
    if (it.address === undefined) {
      it.starvedMs = starvedMsOf(program);
      const address = await readPlainText(join(root, id, instanceFiles.address), ADDRESS_MAX_BYTES);
      if (address !== undefined && isAddress(address)) {
        it.address = address;
        loadingBehind.end(id);
        await cgroups.limit(id, { cpuMillicores: program.cpuMillicores, share: 1 });
      }
    }
    return { id, state: "running", address: it.address, exit: undefined, starvedMs: it.starvedMs };
  }

  return {
    about,
    find,
    isTaken,
    see,
    drop: (id) => void known.delete(id),
    keepOnly(ids) {
      for (const id of known.keys()) if (!ids.includes(id)) known.delete(id);
      for (const id of unreadable) if (!ids.includes(id)) unreadable.delete(id);
    },
  };
}
