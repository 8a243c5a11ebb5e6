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

/** What one driver object remembers of containers; everything in it can be asked and read again. */
export interface KnownContainers {
  /** Undefined while somebody makes it. */
  see(id: string, container: ListedContainer | undefined): Promise<SeenInstance | undefined>;
  /** Somebody else is making it at this moment. */
  isBeingMade(id: string): Promise<boolean>;
  isRunning(id: string): Promise<boolean>;
  drop(id: string): void;
  keepOnly(ids: readonly string[]): void;
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

export function createKnownContainers(options: {
  root: string;
  engine: Engine;
  nameOf(id: string): string;
  log: Log;
  /** It takes requests, or should have done so long ago. Called with every look at it. */
  loaded(id: string, cpuMillicores: number): void;
  /** It was seen so, whoever has done it. */
  paused(id: string): void;
}): KnownContainers {
  const { root, engine, nameOf, log } = options;
  const known = new Map<string, Known>();

  function about(id: string): Known {
    const found = known.get(id) ?? {};
    known.set(id, found);
    return found;
  }

  async function isBeingMade(id: string): Promise<boolean> {
    const maker = await readJson(IdentityFile, root, id, instanceFolderFiles.maker);
    return maker !== undefined && maker.pid !== process.pid && processRuns(maker);
  }

  async function look(id: string, container: ListedContainer): Promise<SeenInstance | undefined> {
    const it = about(id);
    if (!RUNNING.has(container.State)) {
      // One that never started: its maker is at it, or has died.
      if (isUnborn(container.State) && (await isBeingMade(id))) return undefined;
      it.exit ??= await exitOf(id).catch((error: unknown) => exitUntold(id, error));
      return { id, state: "exited", address: it.address, exit: it.exit };
    }
    it.seenMs = performance.now();
    it.address ??= await addressOf(sharedFolderOf(root, id), container);
    const isLoading = it.address === undefined && Date.now() - container.Created * 1000 < LOADING_MAX_MS;
    if (!isLoading) options.loaded(id, Number(container.Labels[labels.cpuMillicores]));
    const isPaused = container.State === "paused";
    if (isPaused) options.paused(id);
    return { id, state: "running", address: it.address, exit: undefined, ...(isPaused ? { isPaused } : {}) };
  }

  async function exitOf(id: string): Promise<InstanceExit> {
    const { State } = (await engine.inspect(nameOf(id))) ?? {};
    const wasAsked = (await readJson(AskedFile, root, id, instanceFolderFiles.asked)) !== undefined;
    const printed = await readLastOutput(sharedFolderOf(root, id), LAST_OUTPUT_BYTES);
    return {
      ...endOf(State),
      outOfMemory: isOutOfMemory(State, { wasAsked, engine }),
      lastOutput: printed || (await engine.lastWords(nameOf(id))) || (State?.Error ?? ""),
    };
  }

  /** That it is over is known. An engine that cannot tell how, be it for ever, must not keep us from all the others. */
  async function exitUntold(id: string, error: unknown): Promise<InstanceExit> {
    if (error instanceof EngineError && error.kind === "unreachable") throw error;
    log.error({ err: error, instanceId: id }, "the engine does not tell how an instance ended");
    const lastOutput = await readLastOutput(sharedFolderOf(root, id), LAST_OUTPUT_BYTES).catch(() => "");
    return { code: null, signal: null, outOfMemory: false, lastOutput };
  }

  async function removedByOthers(id: string): Promise<SeenInstance | undefined> {
    if (
      (await readJson(MadeFile, root, id, instanceFolderFiles.made)) === undefined &&
      (await isBeingMade(id))
    )
      return undefined;
    const it = about(id);
    if (!it.exit) {
      log.warn({ instanceId: id }, "an instance's container is gone, and it was not we who removed it");
      const printed = await readLastOutput(sharedFolderOf(root, id), LAST_OUTPUT_BYTES);
      const lastOutput = [printed, "[the container was removed from the engine]"].filter(Boolean).join("\n");
      it.exit = { code: null, signal: null, outOfMemory: false, lastOutput };
    }
    return { id, state: "exited", address: it.address, exit: it.exit };
  }

  return {
    isBeingMade,
    see: (id, container) => (container ? look(id, container) : removedByOthers(id)),
    async isRunning(id) {
      const it = about(id);
      if (it.exit) return false;
      if (performance.now() - (it.seenMs ?? -Infinity) < SEEN_LATELY_MS) return true;
      // Without an answer more may still come.
      const found = await engine.inspect(nameOf(id)).catch(() => "unknown" as const);
      if (found === "unknown") return true;
      if (!found || !RUNNING.has(found.State.Status)) return false;
      it.seenMs = performance.now();
      return true;
    },
    drop: (id) => void known.delete(id),
    keepOnly(ids) {
      for (const id of known.keys()) if (!ids.includes(id)) known.delete(id);
    },
  };
}

/** Podman says of a paused container that it does not run. */
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

// Podman 4 does not say so. But in a container nobody else than the kernel, for want of memory, kills without being
// asked: the first process in it is deaf to its own signals, and ours are written down.
function isOutOfMemory(
  state: ContainerState | undefined,
  { wasAsked, engine }: { wasAsked: boolean; engine: Engine },
): boolean {
  if (!state || state.OOMKilled) return state?.OOMKilled ?? false;
  return engine.name === "podman" && endOf(state).signal === "SIGKILL" && !wasAsked;
}
