import { ImageError, parseImageReference, type Platform } from "@vocalhost/images";
import type { V1Pod, V1Secret } from "@kubernetes/client-node";
import { instanceVariables } from "@vocalhost/protocol";
import { mkdir } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@vocalhost/base/log";
import type {
  Driver,
  DriverCapabilities,
  InstanceExit,
  InstanceSource,
  InstanceSpec,
  OpenedDriver,
  PreparedSource,
  PrepareOptions,
  SeenInstance,
} from "./driver.ts";
import { ImageBuildError, type ImageBuilder } from "./image-builder.ts";
import type { InstanceRecords } from "./instance-records.ts";
import { createAddresses, type Addresses } from "./kubernetes/addresses.ts";
import { AgentObjects } from "./kubernetes/agent-objects.ts";
import { BootWaits } from "./kubernetes/boot-waits.ts";
import { asDriverError } from "./kubernetes/cluster-error.ts";
import { createClusterFence, type ClusterFence } from "./kubernetes/cluster-fence.ts";
import { openCluster, type Cluster, type ClusterOptions } from "./kubernetes/cluster.ts";
import { openReadyEndpoint, type ReadyEndpoint } from "./kubernetes/ready-endpoint.ts";
import { createNames, type Names } from "./kubernetes/names.ts";
import { PodLoading } from "./kubernetes/pod-loading.ts";
import type { PodSettings } from "./kubernetes/pod-manifest.ts";
import { idOf, PodLives, requireImage } from "./kubernetes/pod-lives.ts";
import { PodOutput } from "./kubernetes/pod-output.ts";
import { openPodRecords } from "./kubernetes/pod-records.ts";
import { readPodState, type PodState } from "./kubernetes/pod-state.ts";
import { createPodUses, type PodUses } from "./kubernetes/pod-uses.ts";
import { prune } from "./kubernetes/prune.ts";
import { WatchedPods } from "./kubernetes/watched-pods.ts";
import { isId } from "./local/instance-folder.ts";
import { asSourceError, askRegistry } from "./source-image.ts";

export interface KubernetesDriverOptions {
  /** Holds one folder per instance, with what it printed. */
  folder: string;
  cluster: ClusterOptions;
  /** Tells the objects of this service from those of others in the namespace. */
  service: string;
  platform: Platform;
  pods: PodSettings;
  /** Where instances report how their boot goes. Without it the driver finds out later that they listen. */
  readyEndpoint?: { host: string; port: number; url?: string | undefined } | undefined;
  log: Log;
  /** How long a node may take beyond the grace to end a pod. @default 15000 */
  killedMs?: number | undefined;
  /** Whether an address may be asked for images. @default every one */
  mayReach?: ((url: URL, address?: string) => boolean) | undefined;
}

const LAST_OUTPUT_BYTES = 4 * 1024;
const PRUNE_MS = 600_000;

/** Opens a driver whose instances are pods, one bare pod each: the cluster neither replaces nor drains them. */
export async function openKubernetesDriver(options: KubernetesDriverOptions): Promise<OpenedDriver> {
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const cluster = stack.use(await openCluster(options.cluster));
  const driver = stack.use(new KubernetesDriver(cluster, options));
  if (options.readyEndpoint) await driver.listen(options.readyEndpoint);
  const { readyUrl } = driver;
  options.log.info(
    { server: cluster.server, namespace: cluster.namespace, readyEndpoint: readyUrl },
    "cluster found",
  );
  const owned = stack.move();
  return {
    driver,
    records: driver.records(),
    images: refusingBuilder,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

class KubernetesDriver implements Driver, AsyncDisposable {
  readonly capabilities: DriverCapabilities = {
    runs: ["image"],
    cpuLimit: true,
    memoryLimit: true,
    isolation: "container",
  };
  readonly #options: KubernetesDriverOptions;
  readonly #cluster: Cluster;
  readonly #names: Names;
  readonly #fence: ClusterFence;
  readonly #agents: AgentObjects;
  readonly #watched: WatchedPods;
  readonly #addresses: Addresses;
  readonly #uses: PodUses;
  readonly #loading: PodLoading;
  readonly #output: PodOutput;
  readonly #lives: PodLives;
  readonly #waits = new BootWaits();
  readonly #creating = new Map<string, Promise<void>>();
  readonly #tokens = new Map<string, string>();
  readonly #exits = new Map<string, { uid: string; exit: InstanceExit }>();
  readonly #listeners = new Set<() => void>();
  readonly #waiting = new Set<() => void>();
  readonly #stack = new AsyncDisposableStack();
  #readyEndpoint: ReadyEndpoint | undefined;
  #leads = false;

  constructor(cluster: Cluster, options: KubernetesDriverOptions) {
    const { log, folder: root } = options;
    const changed = (): void => this.#changed();
    const putPod = (pod: V1Pod): void => this.#watched.put(pod);
    this.#options = options;
    this.#cluster = cluster;
    this.#names = createNames(options.service);
    const names = this.#names;
    this.#fence = createClusterFence(cluster, names);
    this.#agents = new AgentObjects(cluster, names);
    this.#watched = this.#stack.use(new WatchedPods({ cluster, selector: names.pods, log, changed }));
    this.#addresses = this.#stack.use(createAddresses({ found: changed }));
    this.#uses = createPodUses({ cluster, names, log, changed: putPod });
    this.#loading = new PodLoading({ cluster, log, changed: putPod });
    const stateOf = (id: string) => this.#outputStateOf(id);
    this.#output = this.#stack.use(new PodOutput({ root, cluster, names, log, stateOf }));
    this.#lives = new PodLives({
      ...{ cluster, names, watched: this.#watched, fence: this.#fence, agents: this.#agents, log },
      ...{ loading: this.#loading, settings: options.pods, killedMs: options.killedMs },
      nextChange: (timeoutMs) => this.#nextChange(timeoutMs),
      readyEndpoint: () => this.readyUrl,
    });
  }

  /** The URL at which instances report how their boot goes. */
  get readyUrl(): string | undefined {
    return this.#readyEndpoint?.url;
  }

  async listen(at: NonNullable<KubernetesDriverOptions["readyEndpoint"]>): Promise<void> {
    this.#readyEndpoint = this.#stack.use(
      await openReadyEndpoint({
        ...at,
        log: this.#options.log,
        tokenOf: async (id) => (isId(id) ? this.#tokenOf(id) : undefined),
        listening: this.#addresses.told,
        starved: (id, starvedMs) => this.#waits.told(id, starvedMs),
      }),
    );
  }

  records(): InstanceRecords {
    return openPodRecords({
      root: this.#options.folder,
      output: this.#output,
      stateOf: async (id) => {
        const known = this.#leads ? this.#watched.get(this.#names.pod(id)) : undefined;
        const pod = known ?? (await this.#lives.find(id).catch(rethrow));
        return pod && readPodState(pod);
      },
      addressOf: this.#addresses.get,
      tokenOf: (id) => this.#tokenOf(id),
    });
  }

  newestEpoch(): Promise<number> {
    return this.#fence.newest().catch(rethrow);
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async fence(epoch: number): Promise<void> {
    await this.#fence.raise(epoch).catch(rethrow);
    await this.#watched.relist().catch(rethrow); // includes what an earlier leader has made
    await Promise.all([this.#uses.ensureBudget(), this.#loading.prepare()]);
    if (!this.#leads) this.#keepPruned();
    this.#leads = true;
  }

  prepare(source: InstanceSource, options: PrepareOptions): Promise<PreparedSource> {
    return resolveSource(requireImage(source), this.#options, options);
  }

  create(spec: InstanceSpec): Promise<void> {
    const underWay = this.#creating.get(spec.id);
    if (underWay) return underWay;
    this.#tokens.set(spec.id, spec.token);
    const made = this.#lives
      .make(spec)
      .catch(rethrow)
      .finally(() => this.#creating.delete(spec.id));
    this.#creating.set(spec.id, made);
    return made;
  }

  async list(): Promise<SeenInstance[]> {
    // The leader knows its own changes. Another controller would miss those of the last moment.
    const pods = await (this.#leads ? this.#watched.all() : this.#watched.relist()).catch(rethrow);
    const made = [...pods.values()].filter((pod) => !this.#creating.has(idOf(pod)));
    this.#forgetAllBut(new Set([...pods.values()].map(idOf)));
    if (this.#leads) this.#loading.settle(made, (pod) => this.#addresses.get(idOf(pod)) !== undefined);
    return Promise.all(made.map((pod) => this.#see(pod)));
  }

  async destroy(id: string, { graceMs }: { graceMs: number }): Promise<void> {
    try {
      await this.#fence.check();
      await this.#creating.get(id)?.catch(() => undefined);
      await this.#lives.end(id, { graceMs, isListening: this.#addresses.get(id) !== undefined });
      const pod = this.#watched.get(this.#names.pod(id));
      if (pod && readPodState(pod).hasBegun) await this.#output.whole(id);
    } catch (error) {
      rethrow(error);
    }
    this.#changed();
  }

  inUse(ids: ReadonlySet<string>): void {
    if (!this.#leads) return;
    void this.#watched.all().then(
      (pods) => this.#uses.settle(pods.values(), ids),
      () => undefined,
    );
  }

  async forget(id: string): Promise<void> {
    await this.#lives.forget(id).catch(rethrow);
    this.#addresses.drop(id);
    this.#tokens.delete(id);
    this.#exits.delete(id);
    await this.#output.remove(id);
  }

  async forgetAgent(agentId: string): Promise<void> {
    try {
      await this.#fence.check();
      await this.#agents.remove(agentId);
    } catch (error) {
      rethrow(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    await this.#stack.disposeAsync();
  }

  #changed(): void {
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
    for (const listener of this.#listeners) listener();
  }

  async #nextChange(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    await Promise.race([promise, pause(timeoutMs)]);
    this.#waiting.delete(resolve);
  }

  /** Reads the token from the instance's Secret if another controller made the instance. */
  async #tokenOf(id: string): Promise<string | undefined> {
    const known = this.#tokens.get(id);
    if (known !== undefined || !this.#watched.get(this.#names.pod(id))) return known;
    const path = `secrets/${this.#names.pod(id)}`;
    const { data } = await this.#cluster.ask<V1Secret>({ what: "read an instance's token", path });
    const token = data?.[instanceVariables.token];
    if (token !== undefined) this.#tokens.set(id, Buffer.from(token, "base64").toString("utf8"));
    return this.#tokens.get(id);
  }

  #outputStateOf(id: string): "waiting" | "running" | "over" | "gone" {
    const pod = this.#watched.get(this.#names.pod(id));
    if (!pod) return "gone";
    const { state, hasBegun } = readPodState(pod);
    if (state === "exited") return "over";
    return hasBegun || this.#addresses.get(id) !== undefined ? "running" : "waiting";
  }

  async #see(pod: V1Pod): Promise<SeenInstance> {
    const id = idOf(pod);
    const seen = readPodState(pod);
    if (seen.state === "exited") {
      const exit = await this.#exitOf(pod, seen);
      return { id, state: "exited", address: this.#addresses.get(id), exit };
    }
    if (seen.ip !== undefined && seen.hasBegun) this.#addresses.seen(id, seen.ip);
    const address = this.#addresses.get(id);
    if (this.#leads && (seen.hasBegun || address !== undefined)) this.#output.follow(id);
    return { id, state: "running", address, exit: undefined, ...this.#waits.look(id, seen) };
  }

  async #exitOf(pod: V1Pod, seen: PodState & { state: "exited" }): Promise<InstanceExit> {
    const id = idOf(pod);
    const uid = pod.metadata?.uid ?? "";
    const known = this.#exits.get(id);
    if (known?.uid === uid) return known.exit;
    if (seen.hasBegun) await this.#output.whole(id);
    const lastOutput = seen.hasBegun ? await this.#output.last(id, LAST_OUTPUT_BYTES) : "";
    const exit = { ...seen.exit, lastOutput };
    this.#exits.set(id, { uid, exit });
    return exit;
  }

  #forgetAllBut(ids: ReadonlySet<string>): void {
    this.#addresses.keepOnly(new Set([...ids, ...this.#creating.keys()]));
    this.#waits.keepOnly(ids);
    for (const id of this.#tokens.keys())
      if (!ids.has(id) && !this.#creating.has(id)) this.#tokens.delete(id);
    for (const id of this.#exits.keys()) if (!ids.has(id)) this.#exits.delete(id);
  }

  #keepPruned(): void {
    const { log } = this.#options;
    const context = { cluster: this.#cluster, names: this.#names, agents: this.#agents };
    const timer = setInterval(() => {
      void this.#watched
        .all()
        .then((pods) => prune(context, pods))
        .then((count) =>
          count > 0 ? log.info({ count }, "unused objects were removed from the cluster") : undefined,
        )
        .catch((error: unknown) =>
          log.warn({ err: error }, "unused objects could not be removed from the cluster"),
        );
    }, PRUNE_MS).unref();
    this.#stack.defer(() => clearInterval(timer));
  }
}

/** Asks the registry for the digest that a tag means now. Nodes pull the image when they first need it. */
async function resolveSource(
  source: InstanceSource & { kind: "image" },
  { platform, mayReach = () => true }: KubernetesDriverOptions,
  { progressed, signal }: PrepareOptions,
): Promise<PreparedSource> {
  try {
    const reference = parseImageReference(source.reference);
    progressed("Asking the registry for the image");
    const { pinned, labels } = await askRegistry(source, reference, { platform, mayReach, signal });
    return { reference: pinned, labels };
  } catch (error) {
    throw error instanceof ImageError ? asSourceError(error) : error;
  }
}

/** A cluster builds no images; a deployment of a folder is refused with this sentence. */
const refusingBuilder: ImageBuilder = {
  async build() {
    throw new ImageBuildError(
      "This service runs bots on Kubernetes and builds no images. Build and push one " +
        "(vocalhost image build, vocalhost image push), then deploy its name.",
    );
  },
  has: async () => false,
  keepOnly: async () => 0,
};

function rethrow(error: unknown): never {
  throw asDriverError(error);
}
