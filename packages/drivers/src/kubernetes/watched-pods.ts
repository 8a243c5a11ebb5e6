import type { V1Pod, V1PodList } from "@kubernetes/client-node";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@vocalhost/base/log";
import { ClusterError, isKind } from "./cluster-error.ts";
import type { Cluster } from "./cluster.ts";
import { readLines } from "./read-lines.ts";

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

const WATCH_SECONDS = 300; // then the API server ends it, and the next one begins there
const EVENT_MAX_BYTES = 4 * 1024 * 1024; // twice the largest object
const SILENT_MS = 390_000; // after that the connection counts as dead
const AGAIN_MS = [100, 500, 1_000, 2_000, 5_000];
const RELIST_MS = 300_000; // a watch may have missed something

/** The pods of a service, kept up to date by one watch, and by a new list whenever the watch cannot go on. */
export class WatchedPods {
  readonly #options: WatchedPodsOptions;
  readonly #closing = new AbortController();
  readonly #forgotten = new Set<string>(); // uids whose later events are ignored
  #pods = new Map<string, V1Pod>();
  #version: string | undefined;
  #listedMs = -Infinity;
  #failures = 0;

  /** Begins to watch. */
  constructor(options: WatchedPodsOptions) {
    this.#options = options;
    void this.#keep().catch(() => undefined);
  }

  /** Returns the pods by name. Rejects with the cluster's error while they were never read. */
  async all(): Promise<ReadonlyMap<string, V1Pod>> {
    return this.#version === undefined ? this.relist() : this.#pods;
  }

  get(name: string): V1Pod | undefined {
    return this.#pods.get(name);
  }

  /** Takes the cluster's answer to a call of our own. */
  put(pod: V1Pod): void {
    const name = pod.metadata?.name ?? "";
    if (!this.#forgotten.has(pod.metadata?.uid ?? "") && isNewer(pod, this.#pods.get(name)))
      this.#pods.set(name, pod);
  }

  /** Forgets a pod that the driver has removed. */
  drop({ metadata }: V1Pod): void {
    if (metadata?.uid !== undefined) this.#forgotten.add(metadata.uid);
    this.#pods.delete(metadata?.name ?? "");
  }

  /** Reads all pods again. */
  async relist(): Promise<ReadonlyMap<string, V1Pod>> {
    const { items, metadata } = await this.#options.cluster.ask<V1PodList>({
      what: "list pods",
      path: "pods",
      query: { labelSelector: this.#options.selector },
      signal: this.#closing.signal,
    });
    const there = new Set(items.map((pod) => pod.metadata?.uid ?? ""));
    const listed = new Map(
      items
        .filter((pod) => !this.#forgotten.has(pod.metadata?.uid ?? ""))
        .map((pod) => [pod.metadata?.name ?? "", pod]),
    );
    for (const uid of this.#forgotten) if (!there.has(uid)) this.#forgotten.delete(uid);
    const versionOf = (pod: V1Pod): number => Number(pod.metadata?.resourceVersion);
    // Events that came while the list was on its way.
    for (const [name, pod] of this.#pods)
      if (versionOf(pod) > Number(metadata?.resourceVersion)) listed.set(name, pod);
    this.#pods = listed;
    this.#version = metadata?.resourceVersion;
    this.#listedMs = performance.now();
    return this.#pods;
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  async #keep(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        if (this.#version === undefined || performance.now() - this.#listedMs > RELIST_MS) {
          await this.relist();
          this.#options.changed();
        }
        await this.#watchOnce();
      } catch (error) {
        if (signal.aborted) return;
        this.#version = undefined;
        if (isKind(error, "expired")) continue;
        if (this.#failures++ === 0)
          this.#options.log.warn({ err: error }, "the watch of the cluster's pods ended, trying again");
      }
      const againMs = AGAIN_MS[Math.min(this.#failures, AGAIN_MS.length - 1)];
      await pause(againMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #watchOnce(): Promise<void> {
    const ending = new AbortController();
    const silence = setTimeout(() => ending.abort(), SILENT_MS);
    try {
      const response = await this.#options.cluster.stream({
        what: "watch pods",
        path: "pods",
        query: {
          labelSelector: this.#options.selector,
          watch: "true",
          allowWatchBookmarks: "true",
          timeoutSeconds: WATCH_SECONDS,
          resourceVersion: this.#version,
        },
        signal: AbortSignal.any([this.#closing.signal, ending.signal]),
      });
      this.#failures = 0;
      for await (const line of readLines(response, EVENT_MAX_BYTES)) {
        silence.refresh();
        if (line !== "") this.#take(JSON.parse(line) as WatchEvent);
      }
    } finally {
      clearTimeout(silence);
      ending.abort();
    }
  }

  #take({ type, object }: WatchEvent): void {
    if (type === "ERROR")
      throw new ClusterError(object.code === 410 ? "expired" : "busy", object.message ?? "the watch failed");
    this.#version = object.metadata?.resourceVersion ?? this.#version;
    if (type === "BOOKMARK") return;
    const { name = "", uid = "" } = object.metadata ?? {};
    if (type === "DELETED") {
      this.#forgotten.delete(uid);
      if (this.#pods.get(name)?.metadata?.uid === uid) this.#pods.delete(name);
    } else this.put(object);
    this.#options.changed();
  }
}

// Kubernetes promises since 1.35 that versions are numbers that grow; where they are not, the later event counts.
function isNewer(pod: V1Pod, known: V1Pod | undefined): boolean {
  if (known?.metadata?.uid !== pod.metadata?.uid) return true;
  const [is, was] = [Number(pod.metadata?.resourceVersion), Number(known?.metadata?.resourceVersion)];
  return !(is < was);
}
