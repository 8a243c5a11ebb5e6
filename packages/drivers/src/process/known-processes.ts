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

/** Everything in it can be read from the folders again. */
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

export interface KnownProcessesOptions {
  root: string;
  cgroups: Cgroups;
  loadingBehind: LoadingBehind;
  log: Log;
}

const ADDRESS_MAX_BYTES = 256;
const LAST_OUTPUT_BYTES = 4 * 1024;

/** The processes of the folders, as far as the driver has looked at them. */
export class KnownProcesses {
  readonly #options: KnownProcessesOptions;
  readonly #known = new Map<string, Known>();
  readonly #unreadable = new Set<string>();

  constructor(options: KnownProcessesOptions) {
    this.#options = options;
  }

  about(id: string): Known {
    const found = this.#known.get(id);
    if (found) return found;
    const fresh: Known = {};
    this.#known.set(id, fresh);
    return fresh;
  }

  async find(id: string): Promise<ProcessFile | undefined> {
    const it = this.about(id);
    it.process ??= await readJson(ProcessFile, this.#options.root, id, folderFiles.process);
    return it.process ?? this.#adopt(id);
  }

  /** Tells whether a process was made for the instance, or a controller is about to make one. */
  async isTaken(id: string): Promise<boolean> {
    if (await this.find(id)) return true;
    const maker = await readJson(MakerFile, this.#options.root, id, folderFiles.maker);
    return maker !== undefined && maker.pid !== process.pid && isRunning(maker);
  }

  /**
   * Returns undefined while another controller makes the instance. An instance that cannot be read is returned with what is
   * known, so that it is ended and forgotten like any other.
   */
  async see(id: string): Promise<SeenInstance | undefined> {
    try {
      return await this.#look(id);
    } catch (error) {
      if (!this.#unreadable.has(id))
        this.#options.log.error({ err: error, instanceId: id }, "instance cannot be looked at");
      this.#unreadable.add(id);
      const { process: program, address } = this.about(id);
      if (program && isRunning(program)) return { id, state: "running", address, exit: undefined };
      const exit = { code: null, signal: null, outOfMemory: false, lastOutput: "" };
      return { id, state: "exited", address, exit };
    }
  }

  drop(id: string): void {
    this.#known.delete(id);
  }

  keepOnly(ids: readonly string[]): void {
    for (const id of this.#known.keys()) if (!ids.includes(id)) this.#known.delete(id);
    for (const id of this.#unreadable) if (!ids.includes(id)) this.#unreadable.delete(id);
  }

  async #look(id: string): Promise<SeenInstance | undefined> {
    const { root, cgroups, loadingBehind } = this.#options;
    const program = await this.find(id);
    const it = this.about(id);
    if (!program && (await this.isTaken(id))) return undefined;
    if (!program || !(isRunningChild(it) || isRunning(program)))
      return { id, state: "exited", address: it.address, exit: await this.#exitOf(id) };
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

  /** Finds a process whose maker was killed between starting it and writing its file. */
  async #adopt(id: string): Promise<ProcessFile | undefined> {
    const { root, log } = this.#options;
    const maker = await readJson(MakerFile, root, id, folderFiles.maker);
    if (!maker || isRunning(maker)) return undefined;
    const found = findByFolder(join(root, id));
    if (!found) return undefined;
    log.warn({ instanceId: id, pid: found.pid }, "found a process that was not on record");
    const program = { ...found, cpuMillicores: LOADING_MILLICORES };
    await writeJson(program, root, id, folderFiles.process);
    return (this.about(id).process = program);
  }

  async #exitOf(id: string): Promise<InstanceExit> {
    const { root, cgroups } = this.#options;
    const it = this.about(id);
    if (it.exit) return it.exit;
    await it.exited;
    const written = await readJson(ExitedFile, root, id, folderFiles.exited);
    const outOfMemory =
      written?.outOfMemory ??
      ((await cgroups.ranOutOfMemory(id)) || existsSync(join(root, id, folderFiles.overMemory)));
    const lastOutput = await readLastOutput(join(root, id), LAST_OUTPUT_BYTES);
    return (it.exit = { code: null, signal: null, ...written, outOfMemory, lastOutput });
  }
}

/** Asks no kernel: the process id cannot be reused before Node has told us of the child's end. */
function isRunningChild({ child }: Known): boolean {
  return child?.exitCode === null && child.signalCode === null;
}

/** Checks the text, because the bot can write to the file too. */
function isAddress(text: string): boolean {
  const [, host = "", port] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  return isIP(host) > 0 && Number(port) <= 65_535;
}
