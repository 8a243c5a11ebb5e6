import { constants } from "node:os";
import { isIP } from "node:net";
import type { Log } from "@vocalhost/base/log";
import type { InstanceExit, SeenInstance } from "../driver.ts";
import { IdentityFile, readJson } from "../local/instance-folder.ts";
import { readLastOutput } from "../local/output-file.ts";
import { isRunning as processRuns } from "../local/process-identity.ts";
import { labels } from "./container-options.ts";
import type { ContainerState, ListedContainer } from "./engine-answers.ts";
import { EngineError } from "./engine-error.ts";
import type { Engine } from "./engine.ts";
import { AskedFile, instanceFolderFiles, MadeFile } from "./instance-files.ts";
import { LOADING_MAX_MS } from "../loading.ts";
import { readSharedText, sharedFolderOf } from "./shared-files.ts";

export interface KnownContainersOptions {
  root: string;
  engine: Engine;
  nameOf(id: string): string;
  log: Log;
  /** Called each time the driver sees an instance that takes requests, or should have done so long ago. */
  loaded(id: string, cpuMillicores: number): void;
  /** Called when a container was seen paused. */
  paused(id: string): void;
}

interface Known {
  address?: string;
  exit?: InstanceExit;
  /** When it was last seen running. */
  seenMs?: number;
}

const LAST_OUTPUT_BYTES = 4 * 1024;
const SEEN_LATELY_MS = 2_000; // output is asked for several times a second, the engine need not be
const SIGNALLED = 128;
const RUNNING: ReadonlySet<string> = new Set(["running", "paused", "restarting", "stopping", "removing"]);
const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** The driver's cache of containers; the engine has all of it. */
export class KnownContainers {
  readonly #options: KnownContainersOptions;
  readonly #known = new Map<string, Known>();

  constructor(options: KnownContainersOptions) {
    this.#options = options;
  }

  /** Returns undefined while another controller makes the container. */
  see(id: string, container: ListedContainer | undefined): Promise<SeenInstance | undefined> {
    return container ? this.#look(id, container) : this.#removedByOthers(id);
  }

  /** Tells whether another controller is making the container at this moment. */
  async isBeingMade(id: string): Promise<boolean> {
    const maker = await readJson(IdentityFile, this.#options.root, id, instanceFolderFiles.maker);
    return maker !== undefined && maker.pid !== process.pid && processRuns(maker);
  }

  async isRunning(id: string): Promise<boolean> {
    const it = this.#about(id);
    if (it.exit) return false;
    if (performance.now() - (it.seenMs ?? -Infinity) < SEEN_LATELY_MS) return true;
    const { engine, nameOf } = this.#options;
    const found = await engine.inspect(nameOf(id)).catch(() => "unknown" as const);
    if (found === "unknown") return true; // it may still print
    if (!found || !RUNNING.has(found.State.Status)) return false;
    it.seenMs = performance.now();
    return true;
  }

  drop(id: string): void {
    this.#known.delete(id);
  }

  keepOnly(ids: readonly string[]): void {
    for (const id of this.#known.keys()) if (!ids.includes(id)) this.#known.delete(id);
  }

  #about(id: string): Known {
    const found = this.#known.get(id) ?? {};
    this.#known.set(id, found);
    return found;
  }

  async #look(id: string, container: ListedContainer): Promise<SeenInstance | undefined> {
    const it = this.#about(id);
    if (!RUNNING.has(container.State)) {
      // Never started: another controller is making it, or has died while it did.
      if (isUnborn(container.State) && (await this.isBeingMade(id))) return undefined;
      it.exit ??= await this.#exitOf(id).catch((error: unknown) => this.#unknownExit(id, error));
      return { id, state: "exited", address: it.address, exit: it.exit };
    }
    it.seenMs = performance.now();
    it.address ??= await addressOf(sharedFolderOf(this.#options.root, id), container);
    const isLoading = it.address === undefined && Date.now() - container.Created * 1000 < LOADING_MAX_MS;
    if (!isLoading) this.#options.loaded(id, Number(container.Labels[labels.cpuMillicores]));
    const isPaused = container.State === "paused";
    if (isPaused) this.#options.paused(id);
    return { id, state: "running", address: it.address, exit: undefined, ...(isPaused ? { isPaused } : {}) };
  }

  async #exitOf(id: string): Promise<InstanceExit> {
    const { root, engine, nameOf } = this.#options;
    const { State } = (await engine.inspect(nameOf(id))) ?? {};
    const wasAsked = (await readJson(AskedFile, root, id, instanceFolderFiles.asked)) !== undefined;
    const printed = await readLastOutput(sharedFolderOf(root, id), LAST_OUTPUT_BYTES);
    return {
      ...endOf(State),
      outOfMemory: isOutOfMemory(State, { wasAsked, engine }),
      lastOutput: printed || (await engine.lastWords(nameOf(id))) || (State?.Error ?? ""),
    };
  }

  /** The end is known. An engine that never tells how must not keep the driver from all other instances. */
  async #unknownExit(id: string, error: unknown): Promise<InstanceExit> {
    if (error instanceof EngineError && error.kind === "unreachable") throw error;
    const { root, log } = this.#options;
    log.error({ err: error, instanceId: id }, "the engine does not tell how an instance ended");
    const lastOutput = await readLastOutput(sharedFolderOf(root, id), LAST_OUTPUT_BYTES).catch(() => "");
    return { code: null, signal: null, outOfMemory: false, lastOutput };
  }

  async #removedByOthers(id: string): Promise<SeenInstance | undefined> {
    const { root, log } = this.#options;
    const made = await readJson(MadeFile, root, id, instanceFolderFiles.made);
    if (made === undefined && (await this.isBeingMade(id))) return undefined;
    const it = this.#about(id);
    if (!it.exit) {
      log.warn({ instanceId: id }, "an instance's container is gone, and the service did not remove it");
      const printed = await readLastOutput(sharedFolderOf(root, id), LAST_OUTPUT_BYTES);
      const lastOutput = [printed, "[the container was removed from the engine]"].filter(Boolean).join("\n");
      it.exit = { code: null, signal: null, outOfMemory: false, lastOutput };
    }
    return { id, state: "exited", address: it.address, exit: it.exit };
  }
}

/** Podman reports that a paused container does not run. */
export function isLive({ Running, Status }: ContainerState): boolean {
  return Running || Status === "paused";
}

export function isUnborn(state: string): boolean {
  return state === "created" || state === "configured" || state === "initialized";
}

async function addressOf(sharedFiles: string, container: ListedContainer): Promise<string | undefined> {
  const written = await readSharedText(sharedFiles, "address");
  const port = /:(\d{1,5})$/.exec(written)?.[1];
  const ip = Object.values(container.NetworkSettings?.Networks ?? {}).find(
    ({ IPAddress }) => isIP(IPAddress) > 0,
  );
  return port && ip ? `${ip.IPAddress}:${port}` : undefined;
}

function endOf(state: ContainerState | undefined): Pick<InstanceExit, "code" | "signal"> {
  if (!state || isUnborn(state.Status)) return { code: null, signal: null };
  const signal = signalNames.get(state.ExitCode - SIGNALLED);
  return signal === undefined ? { code: state.ExitCode, signal: null } : { code: null, signal };
}

// Podman 4 does not report it. A SIGKILL that the driver did not send came from the kernel, for want of memory: the first
// process of a container cannot kill itself, and the driver writes down each end that it asks for.
function isOutOfMemory(
  state: ContainerState | undefined,
  { wasAsked, engine }: { wasAsked: boolean; engine: Engine },
): boolean {
  if (!state || state.OOMKilled) return state?.OOMKilled ?? false;
  return engine.name === "podman" && endOf(state).signal === "SIGKILL" && !wasAsked;
}
