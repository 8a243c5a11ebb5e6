import { mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "@vocalhost/base/log";
import type { OutputChunk } from "../instance-records.ts";
import { replaceFile } from "../local/guarded-files.ts";
import { isId } from "../local/instance-folder.ts";
import { dropOutput, OUTPUT_FILE, readLastOutput } from "../local/output-file.ts";
import { createOutputReader, type OutputReader } from "../local/output-reader.ts";
import { isKind } from "./cluster-error.ts";
import type { Cluster } from "./cluster.ts";
import { CONTAINER, type Names } from "./names.ts";
import { readLines } from "./read-lines.ts";

export interface PodOutputOptions {
  /** One folder per instance in it. */
  root: string;
  cluster: Cluster;
  names: Names;
  log: Log;
  /** Whether there may be output to copy, now or later. */
  stateOf(id: string): "waiting" | "running" | "over" | "gone";
}

const AGAIN_MS = 300;
const WHOLE_MS = 5_000; // to know that an instance has ended is worth more than its last lines
const LINE_MAX_BYTES = 64 * 1024; // nodes have no limit for a line
const KEEP_ONLY_MS = 600_000;
const SINCE_FILE = "output-since";
const WHOLE_MARK = "whole";
const OUTPUT_LIMITS = { fileBytes: 16 * 1024 * 1024 };

interface Follower {
  ending: AbortController;
  done: Promise<void>;
}

/**
 * Copies what instances print into their folders while they print it. A node keeps only the last few megabytes, can be
 * asked by time and not by position, and keeps nothing once the pod is deleted.
 */
export class PodOutput {
  readonly #options: PodOutputOptions;
  readonly #closing = new AbortController();
  readonly #followers = new Map<string, Follower>();
  readonly #complete = new Set<string>();
  readonly #reader: OutputReader;
  #keptOnlyMs = -Infinity;

  constructor(options: PodOutputOptions) {
    this.#options = options;
    const isRunning = async (id: string): Promise<boolean> => !this.#complete.has(id);
    this.#reader = createOutputReader({ isRunning, limits: OUTPUT_LIMITS });
  }

  async read(id: string, position: number): Promise<OutputChunk> {
    if (this.#options.stateOf(id) !== "gone") this.follow(id);
    return this.#reader.read(id, this.#folderOf(id), position);
  }

  last(id: string, maxBytes: number): Promise<string> {
    return readLastOutput(this.#folderOf(id), maxBytes);
  }

  /** Begins to copy, or goes on. */
  follow(id: string): void {
    if (this.#followers.has(id) || this.#closing.signal.aborted) return;
    const ending = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, ending.signal]);
    const done = this.#copyAll(id, signal).catch((error: unknown) => {
      if (!signal.aborted)
        this.#options.log.warn({ err: error, instanceId: id }, "the output of an instance was not copied");
    });
    this.#followers.set(id, { ending, done });
    void done.then(() => (this.#complete.has(id) || signal.aborted ? undefined : this.#followers.delete(id)));
  }

  /** Resolves when all output of an instance that has ended is copied, or cannot be. */
  async whole(id: string): Promise<void> {
    this.follow(id);
    await Promise.race([this.#followers.get(id)?.done, pause(WHOLE_MS, undefined, { ref: false })]);
  }

  async makeSpace(ids: string[]): Promise<number> {
    const freed = await Promise.allSettled(ids.map((id) => dropOutput(this.#folderOf(id))));
    return freed.reduce((sum, each) => sum + (each.status === "fulfilled" ? each.value : 0), 0);
  }

  /** Ends the copying, then removes the copy. */
  async remove(id: string): Promise<void> {
    const follower = this.#followers.get(id);
    follower?.ending.abort();
    // The entry stays until the folder is gone, so that no other follower makes the folder again.
    const removed = (follower?.done ?? Promise.resolve()).then(() =>
      rm(this.#folderOf(id), { recursive: true, force: true }),
    );
    const entry = { ending: new AbortController(), done: removed.catch(() => undefined) };
    this.#followers.set(id, entry);
    try {
      await removed;
    } finally {
      this.#reader.forget(id);
      this.#complete.delete(id);
      if (this.#followers.get(id) === entry) this.#followers.delete(id);
    }
  }

  /** Removes all other folders, left by pods that ended while another controller led. At most every ten minutes. */
  async keepOnly(ids: ReadonlySet<string>): Promise<void> {
    if (performance.now() - this.#keptOnlyMs < KEEP_ONLY_MS) return;
    this.#keptOnlyMs = performance.now();
    const left = (await readdir(this.#options.root)).filter((id) => isId(id) && !ids.has(id));
    await Promise.all(left.map((id) => this.remove(id)));
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  #folderOf(id: string): string {
    return join(this.#options.root, id);
  }

  async #copyAll(id: string, signal: AbortSignal): Promise<void> {
    const sinceFile = join(this.#folderOf(id), SINCE_FILE);
    await mkdir(this.#folderOf(id), { recursive: true, mode: 0o700 });
    let since = await readFile(sinceFile, "utf8").catch(() => "");
    while (since !== WHOLE_MARK && !signal.aborted) {
      const before = this.#options.stateOf(id);
      if (before === "gone") break;
      if (before !== "waiting") since = await this.#copy(id, { since, signal });
      if (before === "over" && !signal.aborted) {
        await replaceFile(sinceFile, WHOLE_MARK);
        break;
      }
      await pause(AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    if (!signal.aborted) this.#complete.add(id);
  }

  /** Copies until the log or the connection ends. Returns the time of the last line. */
  async #copy(id: string, { since, signal }: { since: string; signal: AbortSignal }): Promise<string> {
    const { cluster, names, log } = this.#options;
    const folder = this.#folderOf(id);
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
      // Not begun yet, gone already, or a cluster that does not answer: the caller tries again.
      if (!isKind(error, "missing", "refused", "busy", "unreachable") && !signal.aborted)
        log.debug({ err: error, instanceId: id }, "a pod's log ended early");
    }
    if (last !== since) await replaceFile(join(folder, SINCE_FILE), last);
    return last;
  }
}

function cutTime(line: string): { time: string | undefined; text: string } {
  const found = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ?/.exec(line);
  return { time: found?.[1], text: found ? line.slice(found[0].length) : line };
}

/** Returns a time with all its digits, so that times can be compared as text. */
function inFull(time: string): string {
  const [, seconds = "", fraction = ""] = /^([^.Z+]+)(?:\.(\d+))?/.exec(time) ?? [];
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}
