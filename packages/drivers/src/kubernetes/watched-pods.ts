import type { V1Pod, V1PodList } from "@kubernetes/client-node";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@vocalhost/base/log";
import { ClusterError, isKind } from "./cluster-error.ts";
import type { Cluster } from "./cluster.ts";
import { readLines } from "./read-lines.ts";

/** The pods of a service as one watch tells of them, and as a new list tells whenever the watch cannot go on. */
export interface WatchedPods extends Disposable {
  /** By name. Rejects with the cluster's error while they were never read. */
  all(): Promise<ReadonlyMap<string, V1Pod>>;
  /** Reads all anew. */
  relist(): Promise<ReadonlyMap<string, V1Pod>>;
  get(name: string): V1Pod | undefined;
  /** Something we did ourselves, and the cluster's answer to it. */
  put(pod: V1Pod): void;
  /** It is gone, by our own doing. */
  drop(pod: V1Pod): void;
}

export interface WatchedPodsOptions {
  cluster: Cluster;
  selector: string;
  log: Log;
  changed(): void;
}

interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: V1Pod & { code?: number; message?: string };
}

const WATCH_SECONDS = 300; // then the API server ends it, and we begin where it ended
const EVENT_MAX_BYTES = 4 * 1024 * 1024; // an object has at most half of that
const SILENT_MS = 390_000; // a connection that died without a word
const AGAIN_MS = [100, 500, 1_000, 2_000, 5_000];
const RELIST_MS = 300_000; // whatever a watch may have missed

export function watchPods({ cluster, selector, log, changed }: WatchedPodsOptions): WatchedPods {
  const closing = new AbortController();
  let pods = new Map<string, V1Pod>();
  const forgotten = new Set<string>(); // uids: late news of them is no news
  let version: string | undefined;
  let listedMs = -Infinity;
  let failures = 0;

  async function relist(): Promise<ReadonlyMap<string, V1Pod>> {
    const { items, metadata } = await cluster.ask<V1PodList>({
      what: "list pods",
      path: "pods",
      query: { labelSelector: selector },
      signal: closing.signal,
    });
    const there = new Set(items.map((pod) => pod.metadata?.uid ?? ""));
    const listed = new Map(
      items
        .filter((pod) => !forgotten.has(pod.metadata?.uid ?? ""))
        .map((pod) => [pod.metadata?.name ?? "", pod]),
    );
    for (const uid of forgotten) if (!there.has(uid)) forgotten.delete(uid);
    const isOf = (pod: V1Pod): number => Number(pod.metadata?.resourceVersion);
    // What we were told of while the list was on its way to us.
    for (const [name, pod] of pods) if (isOf(pod) > Number(metadata?.resourceVersion)) listed.set(name, pod);
    pods = listed;
    version = metadata?.resourceVersion;
    listedMs = performance.now();
    return pods;
  }

  function hear({ type, object }: WatchEvent): void {
    if (type === "ERROR")
      throw new ClusterError(object.code === 410 ? "expired" : "busy", object.message ?? "the watch failed");
    version = object.metadata?.resourceVersion ?? version;
    if (type === "BOOKMARK") return;
    const name = object.metadata?.name ?? "";
    const uid = object.metadata?.uid ?? "";
    if (type === "DELETED") {
      forgotten.delete(uid);
      if (pods.get(name)?.metadata?.uid === uid) pods.delete(name);
    } else if (!forgotten.has(uid) && isNewer(object, pods.get(name))) pods.set(name, object);
    changed();
  }

  async function watchOnce(): Promise<void> {
    const ending = new AbortController();
    const signal = AbortSignal.any([closing.signal, ending.signal]);
    const silence = setTimeout(() => ending.abort(), SILENT_MS);
    try {
      const response = await cluster.stream({
        what: "watch pods",
        path: "pods",
        query: {
          labelSelector: selector,
          watch: "true",
          allowWatchBookmarks: "true",
          timeoutSeconds: WATCH_SECONDS,
          resourceVersion: version,
        },
        signal,
      });
      failures = 0;
      for await (const line of readLines(response, EVENT_MAX_BYTES)) {
        silence.refresh();
        if (line !== "") hear(JSON.parse(line) as WatchEvent);
      }
    } finally {
      clearTimeout(silence);
      ending.abort();
    }
  }

  async function keep(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        if (version === undefined || performance.now() - listedMs > RELIST_MS) {
          await relist();
          changed();
        }
        await watchOnce();
      } catch (error) {
        if (closing.signal.aborted) return;
        version = undefined;
        if (isKind(error, "expired")) continue;
        if (failures++ === 0) log.warn({ err: error }, "the watch of the cluster's pods ended, trying again");
      }
      const againMs = AGAIN_MS[Math.min(failures, AGAIN_MS.length - 1)];
      await pause(againMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    }
  }

  const keeping = keep();
  void keeping.catch(() => undefined);
  return {
    all: async () => (version === undefined ? relist() : pods),
    relist,
    get: (name) => pods.get(name),
    put(pod) {
      const name = pod.metadata?.name ?? "";
      if (!forgotten.has(pod.metadata?.uid ?? "") && isNewer(pod, pods.get(name))) pods.set(name, pod);
    },
    drop({ metadata }) {
      if (metadata?.uid !== undefined) forgotten.add(metadata.uid);
      pods.delete(metadata?.name ?? "");
    },
    [Symbol.dispose]: () => closing.abort(),
  };
}

// Versions are numbers that grow, says Kubernetes since 1.35; where they cannot be compared, the later word counts.
function isNewer(pod: V1Pod, known: V1Pod | undefined): boolean {
  if (known?.metadata?.uid !== pod.metadata?.uid) return true;
  const [is, was] = [Number(pod.metadata?.resourceVersion), Number(known?.metadata?.resourceVersion)];
  return !(is < was);
}
