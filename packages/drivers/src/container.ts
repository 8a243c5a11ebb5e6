import { thisPlatform } from "@vocalhost/images";
import { createHash } from "node:crypto";
import { mkdir, readdir, realpath, rm } from "node:fs/promises";
import { isIPv4 } from "node:net";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@vocalhost/base/log";
import { EngineImageBuilder, type ImageBuilderSettings } from "./container/builds/image-builder.ts";
import { openPulledImages, type PulledImages } from "./container/builds/pulled-images.ts";
import { labels } from "./container/container-options.ts";
import type { FoundContainer } from "./container/engine-answers.ts";
import { openEngine, type Engine, type EngineLimits } from "./container/engine.ts";
import {
  keepNetworkPolicy,
  type KeptNetworkPolicy,
  type NetworkPolicyOptions,
} from "./container/keep-network-policy.ts";
import { asDriverError, EngineError } from "./container/engine-error.ts";
import { instanceFolderFiles } from "./container/instance-files.ts";
import { isLive, isUnborn, KnownContainers } from "./container/known-containers.ts";
import { createLoadingTime, type LoadingTime } from "./container/loading-time.ts";
import { makeContainer, type MakingContext } from "./container/make-container.ts";
import { readSharedText, sharedFolderOf } from "./container/shared-files.ts";
import { openRecordFiles } from "./container/record-files.ts";
import { watchEvents } from "./container/watch-events.ts";
import { prepareImage } from "./container/prepare-image.ts";
import {
  DriverUnavailableError,
  type Driver,
  type DriverCapabilities,
  type HostSide,
  type InstanceSource,
  type InstanceSpec,
  type OpenedDriver,
  type PreparedSource,
  type PrepareOptions,
  type SeenInstance,
} from "./driver.ts";
import type { ImageBuilder } from "./image-builder.ts";
import { createFence, type Fence } from "./local/fence.ts";
import { isId, requireId, writeJson } from "./local/instance-folder.ts";

export interface ContainerDriverOptions {
  /** One folder per instance in it, on a disk the engine sees under the same path. */
  folder: string;
  /** Path of the engine's socket. */
  socket: string;
  /** The engine's network that instances are in; made if it is missing. */
  network: string;
  log: Log;
  /** Surrounds the bots of that network. @default none */
  networkPolicy?: NetworkPolicyOptions | undefined;
  /** Whether an address may be asked for images. @default every one */
  mayReach?: ((url: URL, address?: string) => boolean) | undefined;
  /** How long calls of the engine may take. */
  limits?: EngineLimits | undefined;
  /** Without them the driver builds no images. */
  builds?: ImageBuilderSettings | undefined;
}

const LOOK_AGAIN_MS = 100;
const PULLED_FOLDER = ".pulled"; // not the id of an instance
const KILLED_MS = 10_000; // only a process stuck in the kernel takes longer

/** Opens a driver whose instances are containers of Docker or Podman on this machine, for code that need not be trusted. */
export async function openContainerDriver(options: ContainerDriverOptions): Promise<OpenedDriver> {
  const { log, network } = options;
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const root = await realpath(resolve(options.folder));
  const engine = await openEngine(options.socket, options.limits);
  await engine.ensureNetwork(network);
  const policy = options.networkPolicy ?? { mode: "off", reach: [] };
  const networkPolicy = await keepNetworkPolicy(engine, { network, networkPolicy: policy, log });
  const driver = new ContainerDriver({ ...options, root, engine, networkPolicy });
  log.info({ engine: engine.name, version: engine.version, socket: engine.socket }, "container engine found");
  return {
    driver,
    records: openRecordFiles({ root, isRunning: (id) => driver.isRunning(id) }),
    ...(options.builds ? { images: driver.imageBuilder(options.builds) } : {}),
    async [Symbol.asyncDispose]() {
      driver[Symbol.dispose]();
      networkPolicy[Symbol.dispose]();
    },
  };
}

type Opened = Omit<ContainerDriverOptions, "networkPolicy"> & {
  root: string;
  engine: Engine;
  networkPolicy: KeptNetworkPolicy;
};

class ContainerDriver implements Driver, Disposable {
  readonly cores = availableParallelism();
  readonly capabilities: DriverCapabilities = {
    runs: ["image"],
    cpuLimit: true,
    memoryLimit: true,
    isolation: "container",
  };
  readonly host: HostSide;
  readonly #options: Opened;
  readonly #service: string;
  readonly #label: string;
  readonly #fence: Fence;
  readonly #pulled: PulledImages;
  readonly #loading: LoadingTime;
  readonly #known: KnownContainers;
  readonly #making: MakingContext;
  readonly #events: Disposable;
  readonly #creating = new Map<string, Promise<void>>();
  readonly #pulling = new Set<string>();
  readonly #paused = new Set<string>(); // or about to be; all others need no waking
  readonly #turns = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #waiting = new Set<() => void>();

  constructor(options: Opened) {
    const { root, engine, log, network } = options;
    const changed = (): void => this.#changed();
    const nameOf = (id: string): string => this.#nameOf(id);
    this.#options = options;
    this.#service = serviceOf(root);
    this.#label = `${labels.service}=${this.#service}`;
    this.host = {
      address: () => this.#hostAddress(),
      open: (ports) => options.networkPolicy.open(ports),
    };
    this.#fence = createFence(root);
    this.#pulled = openPulledImages(join(root, PULLED_FOLDER));
    this.#loading = createLoadingTime({ engine, nameOf, log });
    this.#known = new KnownContainers({
      ...{ root, engine, nameOf, log },
      loaded: (id, cpuMillicores) => this.#loading.end(id, cpuMillicores),
      paused: (id) => void this.#paused.add(id),
    });
    this.#making = {
      ...{ root, service: this.#service, network, engine, nameOf, changed },
      ...{ fence: this.#fence, known: this.#known, loading: this.#loading },
    };
    this.#events = watchEvents(engine, { label: this.#label, changed, log });
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

  prepare(source: InstanceSource, options: PrepareOptions): Promise<PreparedSource> {
    if (source.kind !== "image")
      throw new Error("Containers run images; this deployment is the folder of a build");
    const { engine, mayReach = () => true } = this.#options;
    const context = { engine, platform: thisPlatform(), mayReach, pulled: this.#pulled.note };
    return prepareImage(source, context, options);
  }

  create(spec: InstanceSpec): Promise<void> {
    const underWay = this.#creating.get(spec.id);
    if (underWay) return underWay;
    const made = this.#make(spec).finally(() => this.#creating.delete(spec.id));
    this.#creating.set(spec.id, made);
    return made;
  }

  async list(): Promise<SeenInstance[]> {
    const { root, engine } = this.#options;
    // Folders are listed before containers, so that a folder without a container is one that was left behind.
    const folders = await idsIn(root);
    // Made before the engine was asked, however late it answers: only these can be missing from its answer.
    const made = new Set(folders.filter((id) => !this.#creating.has(id)));
    const listed = await engine.list(this.#label).catch(rethrow);
    const containers = new Map(listed.map((each) => [each.Labels[labels.instance] ?? "", each]));
    const ids = [...new Set([...folders, ...containers.keys()])].filter(isId);
    this.#known.keepOnly(ids);
    const seen = await Promise.all(
      ids
        .filter((id) => !this.#creating.has(id) && (made.has(id) || containers.has(id)))
        .map((id) => this.#known.see(id, containers.get(id))),
    ).catch(rethrow);
    return seen.filter((instance) => instance !== undefined);
  }

  async destroy(id: string, { graceMs }: { graceMs: number }): Promise<void> {
    const { root } = this.#options;
    this.#fence.check();
    await this.#creating.get(requireId(id))?.catch(() => undefined);
    // Written before its end: afterwards nothing tells whether the driver or the kernel killed it.
    await writeJson({ graceMs }, root, id, instanceFolderFiles.asked).catch(() => undefined);
    // An instance that does not listen has no session, and may not even handle signals yet.
    const isLoaded = (await readSharedText(sharedFolderOf(root, id), "address")) !== "";
    await this.#end(this.#nameOf(id), isLoaded ? graceMs : 0).catch(rethrow);
    this.#changed();
  }

  async pause(id: string): Promise<void> {
    this.#fence.check();
    this.#paused.add(requireId(id));
    await this.#inTurn(id, () => this.#options.engine.pause(this.#nameOf(id)).catch(rethrow));
  }

  async wake(id: string): Promise<void> {
    if (this.#paused.has(requireId(id)) || this.#turns.has(id)) await this.#unpause(id);
    await this.#loading.ended(id);
  }

  async forget(id: string): Promise<void> {
    const { root, engine } = this.#options;
    const name = this.#nameOf(id);
    const found = await engine.inspect(name).catch(rethrow);
    if (found && isLive(found.State)) throw new Error(`Instance ${id} still runs`);
    await engine.remove(name).catch(rethrow);
    await rm(join(root, id), { recursive: true, force: true });
    this.#known.drop(id);
    this.#loading.forget(id);
    this.#paused.delete(id);
  }

  isRunning(id: string): Promise<boolean> {
    return this.#known.isRunning(id);
  }

  imageBuilder(settings: ImageBuilderSettings): ImageBuilder {
    const { engine, network, mayReach = () => true, log } = this.#options;
    return new EngineImageBuilder({
      ...{ engine, platform: thisPlatform(), service: this.#service, network },
      ...{ pulled: this.#pulled, mayReach, log, settings },
    });
  }

  [Symbol.dispose](): void {
    this.#listeners.clear();
    this.#closing.abort();
    this.#events[Symbol.dispose]();
  }

  #nameOf(id: string): string {
    return `vocalhost-${this.#service}-${requireId(id)}`;
  }

  #changed(): void {
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
    for (const listener of this.#listeners) listener();
  }

  async #nextChange(timeoutMs: number): Promise<void> {
    const { promise, resolve: resume } = Promise.withResolvers<void>();
    this.#waiting.add(resume);
    await Promise.race([promise, pause(timeoutMs)]);
    this.#waiting.delete(resume);
  }

  async #hostAddress(): Promise<string> {
    const { engine, network } = this.#options;
    const { gateways } = await engine.bridgeOf(network).catch(rethrow);
    const address = gateways.find((each) => isIPv4(each)) ?? gateways[0];
    if (address !== undefined) return address;
    throw new Error(`This machine has no address in the network ${network} of the container engine`);
  }

  async #make(spec: InstanceSpec): Promise<void> {
    const { source } = spec;
    try {
      await makeContainer(spec, this.#making);
    } catch (error) {
      const isGone = error instanceof EngineError && error.kind === "missing" && source.kind === "image";
      if (!isGone || /^sha256:|^localhost\//.test(source.reference)) throw error; // or no registry has it
      this.#pullAgain(source);
      throw new DriverUnavailableError("The image is being pulled again", { cause: error });
    }
  }

  /** The image was there when the deployment was made and was removed since, for which the bot is not to blame. */
  #pullAgain(source: InstanceSource & { kind: "image" }): void {
    const { reference } = source;
    if (this.#pulling.has(reference)) return;
    this.#pulling.add(reference);
    this.#options.log.warn(
      { image: reference },
      "an image is gone from the container engine, pulling it again",
    );
    void this.#pull(source);
  }

  async #pull(source: InstanceSource & { kind: "image" }): Promise<void> {
    try {
      await this.prepare(source, { progressed: () => undefined, signal: this.#closing.signal });
    } catch (error) {
      this.#options.log.error(
        { err: error, image: source.reference },
        "an image that is gone cannot be pulled again",
      );
    }
    this.#pulling.delete(source.reference);
    this.#changed();
  }

  async #unpause(id: string): Promise<void> {
    this.#fence.check();
    await this.#inTurn(id, async () => {
      if (!this.#paused.has(id)) return; // another call has woken it
      this.#paused.delete(id); // a later call to pause it has its turn after this
      await this.#options.engine.unpause(this.#nameOf(id)).catch((error: unknown) => {
        this.#paused.add(id);
        rethrow(error);
      });
    });
  }

  /** Runs one call after the other, so that a call to wake an instance follows the call before it that pauses it. */
  async #inTurn(id: string, work: () => Promise<void>): Promise<void> {
    const turn = (this.#turns.get(id) ?? Promise.resolve()).catch(() => undefined).then(work);
    this.#turns.set(id, turn);
    await turn.finally(() => {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    });
  }

  async #end(name: string, graceMs: number): Promise<void> {
    const { engine } = this.#options;
    const found = await engine.inspect(name);
    if (hasEnded(found)) return;
    if (found?.State.Status === "paused") await engine.unpause(name); // signals reach it only then
    if (graceMs > 0) {
      await engine.kill(name, "SIGTERM");
      if (await this.#isOver(name, graceMs)) return;
    }
    await engine.kill(name, "SIGKILL");
    if (!(await this.#isOver(name, KILLED_MS))) throw new Error(`Container ${name} does not end`);
  }

  async #isOver(name: string, timeoutMs: number): Promise<boolean> {
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      if (hasEnded(await this.#options.engine.inspect(name))) return true;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return false;
      await this.#nextChange(Math.min(LOOK_AGAIN_MS, leftMs));
    }
  }
}

/** Names a service by its folder, because several services may share an engine. */
export function serviceOf(root: string): string {
  return createHash("sha256").update(root).digest("hex").slice(0, 12);
}

function hasEnded(found: FoundContainer | undefined): boolean {
  return !found || isUnborn(found.State.Status) || !isLive(found.State);
}

function rethrow(error: unknown): never {
  throw asDriverError(error);
}

async function idsIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() && isId(entry.name) ? [entry.name] : []));
}
