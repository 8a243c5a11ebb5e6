import { readdirSync, readFileSync } from "node:fs";

/** Resources a process has used since it started. */
export interface Usage {
  /** By the performance clock of the reader. */
  atMs: number;
  cpuMs: number;
  /** The same by thread, under the thread's name and id. */
  threads: Map<string, number>;
}

const NS_PER_MS = 1e6;

/** Precise to the nanosecond, unlike /proc/…/stat; threads that have ended are not counted. */
export function readUsage(pid: number): Usage {
  const threads = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const name = readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim();
      const [ranNs] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
      threads.set(`${name} ${thread}`, Number(ranNs) / NS_PER_MS);
    } catch {
      // The thread ended between listing and reading.
    }
  }
  let cpuMs = 0;
  for (const ms of threads.values()) cpuMs += ms;
  return { atMs: performance.now(), cpuMs, threads };
}

/** CPU seconds per second between two readings: 1 is one core. */
export function coresUsed(from: Usage, to: Usage): number {
  return (to.cpuMs - from.cpuMs) / (to.atMs - from.atMs);
}

/** The same by thread, greatest first, without those that did nothing. */
export function threadShares(from: Usage, to: Usage): [name: string, share: number][] {
  const wallMs = to.atMs - from.atMs;
  return [...to.threads]
    .map(([name, ms]): [string, number] => [name, (ms - (from.threads.get(name) ?? 0)) / wallMs])
    .filter(([, share]) => share > 0.001)
    .sort((left, right) => right[1] - left[1]);
}

export interface Memory {
  rssMb: number;
  /** Resident memory with shared pages divided among those that share them. */
  pssMb: number;
}

export function readMemory(pid: number): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const mb = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(rollup)?.[1]) / 1000;
  return { rssMb: mb("Rss"), pssMb: mb("Pss") };
}

const TICK_MS = 10;
const STOLEN_FIELD = 8; // of /proc/stat

/** Time the host of a virtual machine gave to others, average of the cores. */
export function readStolenMs(): number {
  const lines = readFileSync("/proc/stat", "utf8")
    .split("\n")
    .filter((line) => /^cpu\d/.test(line));
  const ticks = lines.map((line) => Number(line.split(" ")[STOLEN_FIELD]));
  return (ticks.reduce((sum, value) => sum + value, 0) * TICK_MS) / lines.length;
}
