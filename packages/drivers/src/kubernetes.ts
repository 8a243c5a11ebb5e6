import type { Platform } from "@vocalhost/images";
import type { V1Pod, V1Secret } from "@kubernetes/client-node";
import { instanceVariables } from "@vocalhost/protocol";
import { mkdir } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@vocalhost/base/log";
import type { Driver, InstanceExit, OpenedDriver, SeenInstance } from "./driver.ts";
import { createAddresses } from "./kubernetes/addresses.ts";
import { BootWaits } from "./kubernetes/boot-waits.ts";
import { createAgentObjects } from "./kubernetes/agent-objects.ts";
import { asDriverError } from "./kubernetes/cluster-error.ts";
import { createClusterFence } from "./kubernetes/cluster-fence.ts";
import { openCluster, type ClusterOptions } from "./kubernetes/cluster.ts";
import { openReadyEndpoint } from "./kubernetes/ready-endpoint.ts";
import { createNames } from "./kubernetes/names.ts";
import { createPodLoading } from "./kubernetes/pod-loading.ts";
import type { PodSettings } from "./kubernetes/pod-manifest.ts";
import { createPodLives, idOf, requireImage } from "./kubernetes/pod-lives.ts";
import { createPodOutput } from "./kubernetes/pod-output.ts";
import { openPodRecords } from "./kubernetes/pod-records.ts";
import { readPodState } from "./kubernetes/pod-state.ts";
import { createPodUses } from "./kubernetes/pod-uses.ts";
import { prune } from "./kubernetes/prune.ts";
import { resolveSource } from "./kubernetes/resolve-source.ts";
import { watchPods } from "./kubernetes/watched-pods.ts";
import { refusingBuilder } from "./kubernetes/refusing-builder.ts";
import { isId } from "./local/instance-folder.ts";

export interface KubernetesDriverOptions {
  /** For what instances print; one folder per instance in it. */
  folder: string;
  cluster: ClusterOptions;
  /** Tells the objects of this service from those of others in the namespace. */
  service: string;
  platform: Platform;
  pods: PodSettings;
  /** Where instances say that they listen; without it that is found out later. */
  readyEndpoint?: { host: string; port: number; url?: string | undefined } | undefined;
  log: Log;
  /** How long a node may take beyond the grace to end a pod. @default 15000 */
  killedMs?: number | undefined;
  /** Whether an address may be asked for images. @default every one */
  mayReach?: ((url: URL, address?: string) => boolean) | undefined;
}

const LAST_OUTPUT_BYTES = 4 * 1024;
const PRUNE_MS = 600_000;

/** Instances as pods of a cluster, one bare pod each: replacing and draining them is not the cluster's business. */
export async function openKubernetesDriver(options: KubernetesDriverOptions): Promise<OpenedDriver> {
  const { log, folder: root, mayReach = () => true, platform } = options;
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  await mkdir(root, { recursive: true, mode: 0o700 });
  const names = createNames(options.service);
  const cluster = stack.use(await openCluster(options.cluster));
  const fence = createClusterFence(cluster, names);
  const agents = createAgentObjects(cluster, names);
  const creating = new Map<string, Promise<void>>();
  const tokens = new Map<string, string>();
  const exits = new Map<string, { uid: string; exit: InstanceExit }>();
  const listeners = new Set<() => void>();
  const changes = new Set<() => void>();
  const waits = new BootWaits();
  let leads = false;

  function changed(): void {
    for (const resume of changes) resume();
    changes.clear();
    for (const listener of listeners) listener();
  }

  const watched = stack.use(watchPods({ cluster, selector: names.pods, log, changed }));
  const addresses = stack.use(createAddresses({ found: changed }));
  const uses = createPodUses({ cluster, names, log, changed: watched.put });
  const loading = createPodLoading({ cluster, log, changed: watched.put });
  const output = stack.use(
    createPodOutput({
      ...{ root, cluster, names, log },
      stateOf(id) {
        const pod = watched.get(names.pod(id));
        if (!pod) return "gone";
        const { state, hasBegun } = readPodState(pod);
        if (state === "exited") return "over";
        return hasBegun || addresses.get(id) !== undefined ? "running" : "waiting";
      },
    }),
  );
  const lives = createPodLives({
    ...{ cluster, names, watched, fence, agents, loading, log, nextChange },
    settings: options.pods,
    killedMs: options.killedMs,
    readyEndpoint: () => readyEndpoint?.url,
  });
  const { readyEndpoint: asked } = options;
  const readyEndpoint =
    asked &&
    stack.use(
      await openReadyEndpoint({
        ...asked,
        log,
        tokenOf: async (id) => (isId(id) ? (tokens.get(id) ?? (await storedToken(id))) : undefined),
        listening: addresses.told,
        starved: (id, starvedMs) => waits.told(id, starvedMs),
      }),
    );

  /** Of instances that an earlier controller has made. */
  async function storedToken(id: string): Promise<string | undefined> {
    if (!watched.get(names.pod(id))) return undefined;
    const path = `secrets/${names.pod(id)}`;
    const { data } = await cluster.ask<V1Secret>({ what: "read an instance's token", path });
    const token = data?.[instanceVariables.token];
    if (token !== undefined) tokens.set(id, Buffer.from(token, "base64").toString("utf8"));
    return tokens.get(id);
  }

  async function see(pod: V1Pod): Promise<SeenInstance> {
    const id = idOf(pod);
    const seen = readPodState(pod);
    if (seen.state === "running") {
      if (seen.ip !== undefined && seen.hasBegun) addresses.seen(id, seen.ip);
      const address = addresses.get(id);
      if (leads && (seen.hasBegun || address !== undefined)) output.follow(id);
      return { id, state: "running", address, exit: undefined, ...waits.look(id, seen) };
    }
    const uid = pod.metadata?.uid ?? "";
    const known = exits.get(id);
    if (known?.uid === uid) return { id, state: "exited", address: addresses.get(id), exit: known.exit };
    if (seen.hasBegun) await output.whole(id);
    const lastOutput = seen.hasBegun ? await output.last(id, LAST_OUTPUT_BYTES) : "";
    const exit = { ...seen.exit, lastOutput };
    exits.set(id, { uid, exit });
    return { id, state: "exited", address: addresses.get(id), exit };
  }

  async function nextChange(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    changes.add(resolve);
    await Promise.race([promise, pause(timeoutMs)]);
    changes.delete(resolve);
  }

  function keepPruned(): void {
    const timer = setInterval(() => {
      void watched
        .all()
        .then((pods) => prune({ cluster, names, agents }, pods))
        .then((count) =>
          count > 0 ? log.info({ count }, "objects that no pod needs were removed") : undefined,
        )
        .catch((error: unknown) =>
          log.warn({ err: error }, "objects that no pod needs could not be removed"),
        );
    }, PRUNE_MS).unref();
    stackOfLeader.defer(() => clearInterval(timer));
  }
  const stackOfLeader = stack.use(new DisposableStack());

  const driver: Driver = {
    capabilities: { runs: ["image"], cpuLimit: true, memoryLimit: true, isolation: "container" },
    newestEpoch: () => fence.newest().catch(rethrow),
    onChange: (listener) => void listeners.add(listener),
    async fence(epoch) {
      await fence.raise(epoch).catch(rethrow);
      await watched.relist().catch(rethrow); // whatever an earlier leader has made
      await Promise.all([uses.ensureBudget(), loading.prepare()]);
      if (!leads) keepPruned();
      leads = true;
    },
    prepare(source, prepare) {
      return resolveSource(requireImage(source), { platform, mayReach }, prepare);
    },
    create(spec) {
      const underWay = creating.get(spec.id);
      if (underWay) return underWay;
      tokens.set(spec.id, spec.token);
      const made = lives
        .make(spec)
        .catch(rethrow)
        .finally(() => creating.delete(spec.id));
      creating.set(spec.id, made);
      return made;
    },
    async list() {
      // The leader knows what it did itself. Anybody else would miss what the leader did a moment ago.
      const pods = await (leads ? watched.all() : watched.relist()).catch(rethrow);
      const mine = [...pods.values()].filter((pod) => !creating.has(idOf(pod)));
      const ids = new Set([...pods.values()].map(idOf));
      addresses.keepOnly(new Set([...ids, ...creating.keys()]));
      waits.keepOnly(ids);
      for (const id of tokens.keys()) if (!ids.has(id) && !creating.has(id)) tokens.delete(id);
      for (const id of exits.keys()) if (!ids.has(id)) exits.delete(id);
      if (leads) loading.settle(mine, (pod) => addresses.get(idOf(pod)) !== undefined);
      return Promise.all(mine.map(see));
    },
    async destroy(id, { graceMs }) {
      try {
        await fence.check();
        await creating.get(id)?.catch(() => undefined);
        await lives.end(id, { graceMs, isListening: addresses.get(id) !== undefined });
        const pod = watched.get(names.pod(id));
        if (pod && readPodState(pod).hasBegun) await output.whole(id);
      } catch (error) {
        rethrow(error);
      }
      changed();
    },
    inUse(ids) {
      if (!leads) return;
      void watched.all().then(
        (pods) => uses.settle(pods.values(), ids),
        () => undefined,
      );
    },
    async forget(id) {
      try {
        await lives.forget(id);
      } catch (error) {
        rethrow(error);
      }
      addresses.drop(id);
      tokens.delete(id);
      exits.delete(id);
      await output.remove(id);
    },
    async forgetAgent(agentId) {
      try {
        await fence.check();
        await agents.remove(agentId);
      } catch (error) {
        rethrow(error);
      }
    },
  };

  const records = openPodRecords({
    ...{ root, output },
    async stateOf(id) {
      const pod = (leads ? watched.get(names.pod(id)) : undefined) ?? (await lives.find(id).catch(rethrow));
      return pod && readPodState(pod);
    },
    addressOf: addresses.get,
    tokenOf: async (id) => tokens.get(id) ?? storedToken(id),
  });
  log.info(
    { server: cluster.server, namespace: cluster.namespace, readyEndpoint: readyEndpoint?.url },
    "cluster found",
  );
  const owned = stack.move();
  return {
    driver,
    records,
    images: refusingBuilder,
    async [Symbol.asyncDispose]() {
      listeners.clear();
      await owned.disposeAsync();
    },
  };
}

function rethrow(error: unknown): never {
  throw asDriverError(error);
}
