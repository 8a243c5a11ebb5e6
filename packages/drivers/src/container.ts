import { thisPlatform } from "@vocalhost/images";
import { createHash } from "node:crypto";
import { mkdir, readdir, realpath, rm } from "node:fs/promises";
import { isIPv4 } from "node:net";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@vocalhost/base/log";
import { createImageBuilder, type ImageBuilderSettings } from "./container/builds/image-builder.ts";
import { openPulledImages } from "./container/builds/pulled-images.ts";
import { labels } from "./container/container-options.ts";
import type { FoundContainer } from "./container/engine-answers.ts";
import { openEngine, type EngineLimits } from "./container/engine.ts";
import { keepNetworkPolicy, type NetworkPolicyOptions } from "./container/keep-network-policy.ts";
import { asDriverError, EngineError } from "./container/engine-error.ts";
import { instanceFolderFiles } from "./container/instance-files.ts";
import { createKnownContainers, isLive, isUnborn } from "./container/known-containers.ts";
import { createLoadingTime } from "./container/loading-time.ts";
import { makeContainer, type MakingContext } from "./container/make-container.ts";
import { readSharedText, sharedFolderOf } from "./container/shared-files.ts";
import { openRecordFiles } from "./container/record-files.ts";
import { watchEvents } from "./container/watch-events.ts";
import { prepareImage } from "./container/prepare-image.ts";
import {
  DriverUnavailableError,
  type Driver,
  type InstanceSource,
  type InstanceSpec,
  type OpenedDriver,
} from "./driver.ts";
import { createFence } from "./local/fence.ts";
import { isId, requireId, writeJson } from "./local/instance-folder.ts";

export interface ContainerDriverOptions {
  /** One folder per instance in it, on a disk the engine sees under the same path. */
  folder: string;
  /** Path of the engine's socket. */
  socket: string;
  /** The engine's network that instances are in; made if it is missing. */
  network: string;
  log: Log;
  /** Around the bots of that network. @default none */
  networkPolicy?: NetworkPolicyOptions | undefined;
  /** Whether an address may be asked for images. @default every one */
  mayReach?: ((url: URL, address?: string) => boolean) | undefined;
  /** How long the engine may take. */
  limits?: EngineLimits | undefined;
  /** How images are built; without them none are. */
  builds?: ImageBuilderSettings | undefined;
}

const LOOK_AGAIN_MS = 100;
const PULLED_FOLDER = ".pulled"; // no instance is called so
const KILLED_MS = 10_000; // only a process stuck in the kernel takes longer

/** Instances as containers of Docker or Podman on this machine: a wall around code nobody has to trust. */
export async function openContainerDriver(options: ContainerDriverOptions): Promise<OpenedDriver> {
  const { log, network, mayReach = () => true } = options;
  const platform = thisPlatform();
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const root = await realpath(resolve(options.folder));
  const service = serviceOf(root);
  const nameOf = (id: string): string => `vocalhost-${service}-${requireId(id)}`;
  const engine = await openEngine(options.socket, options.limits);
  await engine.ensureNetwork(network);
  const networkPolicy = await keepNetworkPolicy(engine, {
    network,
    networkPolicy: options.networkPolicy ?? { mode: "off", reach: [] },
    log,
  });
  const fence = createFence(root);
  const pulled = openPulledImages(join(root, PULLED_FOLDER));
  const creating = new Map<string, Promise<void>>();
  const pulling = new Set<string>();
  const paused = new Set<string>(); // or about to be: those that are not in here need no waking
  const turns = new Map<string, Promise<void>>();
  const closing = new AbortController();
  const listeners = new Set<() => void>();
  const changes = new Set<() => void>();
  const label = `${labels.service}=${service}`;

  function changed(): void {
    for (const resume of changes) resume();
    changes.clear();
    for (const listener of listeners) listener();
  }

  const loading = createLoadingTime({ engine, nameOf, log });
  const known = createKnownContainers({
    root,
    engine,
    nameOf,
    log,
    loaded: (id, cpuMillicores) => loading.end(id, cpuMillicores),
    paused: (id) => void paused.add(id),
  });
  const making: MakingContext = {
    root,
    service,
    network,
    engine,
    fence,
    known,
    nameOf,
    loading,
    changed,
  };
  const events = watchEvents(engine, { label, changed, log });

  const driver: Driver = {
    cores: availableParallelism(),
    capabilities: { runs: ["image"], cpuLimit: true, memoryLimit: true, isolation: "container" },
    host: { address: hostAddress, open: (ports) => networkPolicy.open(ports) },
    fence: (epoch) => fence.raise(epoch),
    newestEpoch: async () => fence.newest(),
    onChange: (listener) => void listeners.add(listener),
    prepare(source, prepare) {
      if (source.kind !== "image")
        throw new Error("Containers run images; this deployment is the folder of a build");
      return prepareImage(source, { engine, platform, mayReach, pulled: pulled.note }, prepare);
    },
    create(spec) {
      const underWay = creating.get(spec.id);
      if (underWay) return underWay;
      const made = make(spec).finally(() => creating.delete(spec.id));
      creating.set(spec.id, made);
      return made;
    },
    async list() {
      // Folders first: one that is there before and has no container after was left by somebody.
      const folders = await idsIn(root);
      // Made before the engine was asked, however late it answers: only these can be missing from its answer.
      const made = new Set(folders.filter((id) => !creating.has(id)));
      const containers = new Map(
        (await engine.list(label).catch(rethrow)).map((each) => [each.Labels[labels.instance] ?? "", each]),
      );
      const ids = [...new Set([...folders, ...containers.keys()])].filter(isId);
      known.keepOnly(ids);
      const seen = await Promise.all(
        ids
          .filter((id) => !creating.has(id) && (made.has(id) || containers.has(id)))
          .map((id) => known.see(id, containers.get(id))),
      ).catch(rethrow);
      return seen.filter((instance) => instance !== undefined);
    },
    async destroy(id, { graceMs }) {
      fence.check();
      await creating.get(requireId(id))?.catch(() => undefined);
      // Before its end: afterwards nobody could say whether we or the kernel killed it.
      await writeJson({ graceMs }, root, id, instanceFolderFiles.asked).catch(() => undefined);
      // Without an address it has no session, and may not even listen to signals yet.
      const isLoaded = (await readSharedText(sharedFolderOf(root, id), "address")) !== "";
      await endContainer(nameOf(id), isLoaded ? graceMs : 0).catch(rethrow);
      changed();
    },
    async pause(id) {
      fence.check();
      paused.add(requireId(id));
      await inTurn(id, () => engine.pause(nameOf(id)).catch(rethrow));
    },
    async wake(id) {
      if (paused.has(requireId(id)) || turns.has(id)) await unpause(id);
      await loading.ended(id);
    },
    async forget(id) {
      const found = await engine.inspect(nameOf(id)).catch(rethrow);
      if (found && isLive(found.State)) throw new Error(`Instance ${id} still runs`);
      await engine.remove(nameOf(id)).catch(rethrow);
      await rm(join(root, id), { recursive: true, force: true });
      known.drop(id);
      loading.forget(id);
      paused.delete(id);
    },
  };

  async function hostAddress(): Promise<string> {
    const { gateways } = await engine.bridgeOf(network).catch(rethrow);
    const address = gateways.find((each) => isIPv4(each)) ?? gateways[0];
    if (address !== undefined) return address;
    throw new Error(`This machine has no address in the network ${network} of the container engine`);
  }

  async function unpause(id: string): Promise<void> {
    fence.check();
    await inTurn(id, async () => {
      if (!paused.has(id)) return; // somebody else has woken it
      paused.delete(id); // whoever pauses it from now on has its turn after this
      await engine.unpause(nameOf(id)).catch((error: unknown) => {
        paused.add(id);
        rethrow(error);
      });
    });
  }

  /** One after the other: whoever wakes an instance wakes it after it was paused, not before. */
  async function inTurn(id: string, work: () => Promise<void>): Promise<void> {
    const turn = (turns.get(id) ?? Promise.resolve()).catch(() => undefined).then(work);
    turns.set(id, turn);
    await turn.finally(() => {
      if (turns.get(id) === turn) turns.delete(id);
    });
  }

  // Somebody has tidied up the engine's storage. It was there when the deployment was made, so the bot is not to blame.
  function pullAgain(source: InstanceSource & { kind: "image" }): void {
    const { reference } = source;
    if (pulling.has(reference)) return;
    pulling.add(reference);
    log.warn({ image: reference }, "an image is gone from the container engine, pulling it again");
    void pull(source);
  }

  async function pull(source: InstanceSource & { kind: "image" }): Promise<void> {
    try {
      await driver.prepare?.(source, { progressed: () => undefined, signal: closing.signal });
    } catch (error) {
      log.error({ err: error, image: source.reference }, "an image that is gone cannot be pulled again");
    }
    pulling.delete(source.reference);
    changed();
  }

  async function make(spec: InstanceSpec): Promise<void> {
    const { source } = spec;
    try {
      await makeContainer(spec, making);
    } catch (error) {
      const isGone = error instanceof EngineError && error.kind === "missing" && source.kind === "image";
      if (!isGone || /^sha256:|^localhost\//.test(source.reference)) throw error; // or it can be got nowhere
      pullAgain(source);
      throw new DriverUnavailableError("The image is being pulled again", { cause: error });
    }
  }

  async function endContainer(name: string, graceMs: number): Promise<void> {
    const found = await engine.inspect(name);
    if (hasEnded(found)) return;
    if (found?.State.Status === "paused") await engine.unpause(name); // signals reach it only then
    if (graceMs > 0) {
      await engine.kill(name, "SIGTERM");
      if (await isOver(name, graceMs)) return;
    }
    await engine.kill(name, "SIGKILL");
    if (!(await isOver(name, KILLED_MS))) throw new Error(`Container ${name} does not end`);
  }

  async function isOver(name: string, timeoutMs: number): Promise<boolean> {
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      if (hasEnded(await engine.inspect(name))) return true;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return false;
      await nextChange(Math.min(LOOK_AGAIN_MS, leftMs));
    }
  }

  async function nextChange(timeoutMs: number): Promise<void> {
    const { promise, resolve: resume } = Promise.withResolvers<void>();
    changes.add(resume);
    await Promise.race([promise, pause(timeoutMs)]);
    changes.delete(resume);
  }

  const records = openRecordFiles({ root, isRunning: (id) => known.isRunning(id) });
  log.info({ engine: engine.name, version: engine.version, socket: engine.socket }, "container engine found");
  return {
    driver,
    records,
    ...(options.builds
      ? {
          images: createImageBuilder({
            ...{ engine, platform, service, network, pulled, mayReach, log },
            settings: options.builds,
          }),
        }
      : {}),
    async [Symbol.asyncDispose]() {
      listeners.clear();
      closing.abort();
      networkPolicy[Symbol.dispose]();
      events[Symbol.dispose]();
    },
  };
}

/** Several services may share an engine; their folders are their own. */
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
