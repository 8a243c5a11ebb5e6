import { mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@vocalhost/base/log";
import type { OutputChunk } from "../instance-records.ts";
import { replaceFile } from "../local/guarded-files.ts";
import { isId } from "../local/instance-folder.ts";
import { dropOutput, OUTPUT_FILE, readLastOutput } from "../local/output-file.ts";
import { createOutputReader } from "../local/output-reader.ts";
import { isKind } from "./cluster-error.ts";
import type { Cluster } from "./cluster.ts";
import { CONTAINER, type Names } from "./names.ts";
import { readLines } from "./read-lines.ts";

/**
 * What instances print, brought here line by line while it is printed: a node keeps the last few megabytes of it, by
 * time and not by place, and nothing at all once the pod is to go.
 */
export interface PodOutput extends Disposable {
  read(id: string, position: number): Promise<OutputChunk>;
  last(id: string, maxBytes: number): Promise<string>;
  /** Begins to bring it, or goes on. */
  follow(id: string): void;
  /** Resolves when all of an instance that has ended is here, or will not come. */
  whole(id: string): Promise<void>;
  makeSpace(ids: string[]): Promise<number>;
  /** Ends the bringing, then removes all that was brought. */
  remove(id: string): Promise<void>;
  /** Removes the folders of all others, left by pods that ended while another controller led. At most every ten minutes. */
  keepOnly(ids: ReadonlySet<string>): Promise<void>;
}

export interface PodOutputOptions {
  /** One folder per instance in it. */
  root: string;
  cluster: Cluster;
  names: Names;
  log: Log;
  /** Whether there may be something to bring, now or later. */
  stateOf(id: string): "waiting" | "running" | "over" | "gone";
}

const AGAIN_MS = 300;
const WHOLE_MS = 5_000; // an end is worth more than its last words
const LINE_MAX_BYTES = 64 * 1024; // nodes have no limit for one
const KEEP_ONLY_MS = 600_000; // few are ever left
const SINCE_FILE = "output-since";
const WHOLE_MARK = "whole";
const OUTPUT_LIMITS = { fileBytes: 16 * 1024 * 1024 };

interface Follower {
  ending: AbortController;
  done: Promise<void>;
}

export function createPodOutput(options: PodOutputOptions): PodOutput {
  const { root, cluster, names, log, stateOf } = options;
  const closing = new AbortController();
  const followers = new Map<string, Follower>();
  const wholes = new Set<string>();
  let keptOnlyMs = -Infinity;
  const reader = createOutputReader({ isRunning: async (id) => !wholes.has(id), limits: OUTPUT_LIMITS });

  function follow(id: string): void {
    if (followers.has(id) || closing.signal.aborted) return;
    const ending = new AbortController();
    const signal = AbortSignal.any([closing.signal, ending.signal]);
    const done = bringAll(id, signal).catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error, instanceId: id }, "output of an instance was not brought");
    });
    followers.set(id, { ending, done });
    void done.then(() => (wholes.has(id) || signal.aborted ? undefined : followers.delete(id)));
  }

  async function bringAll(id: string, signal: AbortSignal): Promise<void> {
    const folder = join(root, id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    let since = await readFile(join(folder, SINCE_FILE), "utf8").catch(() => "");
    while (since !== WHOLE_MARK && !signal.aborted) {
      const before = stateOf(id);
      if (before === "gone") break;
      if (before !== "waiting") since = await bring(id, { since, signal });
      if (before === "over" && !signal.aborted) {
        await replaceFile(join(folder, SINCE_FILE), WHOLE_MARK);
        break;
      }
      await pause(AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    if (!signal.aborted) wholes.add(id);
  }

  /** Until it ends or the connection does. Gives the time of the last line. */
  async function bring(
    id: string,
    { since, signal }: { since: string; signal: AbortSignal },
  ): Promise<string> {
    const folder = join(root, id);
    await using file = await open(join(folder, OUTPUT_FILE), "a", 0o600);
    let last = since;
    try {
      const response = await cluster.stream({
        what: "read a pod's log",
        path: `pods/${names.pod(id)}/log`,
        query: { container: CONTAINER, follow: "true", timestamps: "true", sinceTime: since || undefined },
        signal,
      });
      for await (const line of readLines(response, LINE_MAX_BYTES)) {
        const { time, text } = cutTime(line);
        if (time === undefined || (since !== "" && inFull(time) <= inFull(since))) continue;
        await file.appendFile(`${text}\n`);
        last = time;
      }
    } catch (error) {
      // Not begun yet, gone already, or a cluster that does not answer: whoever calls looks again.
      if (!isKind(error, "missing", "refused", "busy", "unreachable") && !signal.aborted)
        log.debug({ err: error, instanceId: id }, "a pod's log ended early");
    }
    if (last !== since) await replaceFile(join(folder, SINCE_FILE), last);
    return last;
  }

  async function remove(id: string): Promise<void> {
    const follower = followers.get(id);
    follower?.ending.abort();
    // Until the folder is gone this place is taken, so that no other follower makes it again.
    const removed = (follower?.done ?? Promise.resolve()).then(() =>
      rm(join(root, id), { recursive: true, force: true }),
    );
    const place = { ending: new AbortController(), done: removed.catch(() => undefined) };
    followers.set(id, place);
    try {
      await removed;
    } finally {
      reader.forget(id);
      wholes.delete(id);
      if (followers.get(id) === place) followers.delete(id);
    }
  }

  return {
    follow,
    async read(id, position) {
      if (stateOf(id) !== "gone") follow(id);
      return reader.read(id, join(root, id), position);
    },
    last: (id, maxBytes) => readLastOutput(join(root, id), maxBytes),
    async whole(id) {
      follow(id);
      await Promise.race([followers.get(id)?.done, pause(WHOLE_MS, undefined, { ref: false })]);
    },
    async makeSpace(ids) {
      const freed = await Promise.allSettled(ids.map((id) => dropOutput(join(root, id))));
      return freed.reduce((sum, each) => sum + (each.status === "fulfilled" ? each.value : 0), 0);
    },
    remove,
    async keepOnly(ids) {
      if (performance.now() - keptOnlyMs < KEEP_ONLY_MS) return;
      keptOnlyMs = performance.now();
      const left = (await readdir(root)).filter((id) => isId(id) && !ids.has(id));
      await Promise.all(left.map(remove));
    },
    [Symbol.dispose]: () => closing.abort(),
  };
}

function cutTime(line: string): { time: string | undefined; text: string } {
  const found = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ?/.exec(line);
  return { time: found?.[1], text: found ? line.slice(found[0].length) : line };
}

/** With all its digits, so that times can be compared as text. */
function inFull(time: string): string {
  const [, seconds = "", fraction = ""] = /^([^.Z+]+)(?:\.(\d+))?/.exec(time) ?? [];
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}
