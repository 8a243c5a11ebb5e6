import type { Log } from "@vocalhost/base/log";
import { identityOf, type ProcessIdentity, readProc, readText } from "../local/process-identity.ts";

/** An instance that runs, and the memory it may have. */
export interface WatchedMemory {
  id: string;
  program: ProcessIdentity;
  memoryMib: number;
}

const LOOK_EVERY_MS = 500; // one that allocates as fast as it can gets a few hundred MiB further

/** Ends instances that have more memory than their profile, where no control group does. */
export function watchMemory(options: {
  running(): Promise<WatchedMemory[]>;
  /** Ends it and all of these at once, recorded as out of memory. */
  end(instance: WatchedMemory, started: readonly ProcessIdentity[]): Promise<void>;
  log: Log;
}): Disposable {
  const { running, end, log } = options;
  const ending = new Set<string>();
  let isLooking = false;

  async function look(): Promise<void> {
    const instances = await running();
    if (instances.length === 0) return;
    const processes = readProcesses();
    for (const instance of instances) {
      const pids = processesOf(instance.program.pid, processes);
      const residentMib = pids.reduce((sum, pid) => sum + residentKib(pid), 0) / 1024;
      if (residentMib <= instance.memoryMib || ending.has(instance.id)) continue;
      const { id, memoryMib } = instance;
      log.warn(
        { instanceId: id, residentMib: Math.round(residentMib), memoryMib },
        "instance ran out of memory, ended",
      );
      ending.add(id);
      await end(instance, pids.map(identityOf)).finally(() => ending.delete(id));
    }
  }

  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((error: unknown) => log.warn({ err: error }, "memory of instances cannot be looked at"))
      .finally(() => (isLooking = false));
  }, LOOK_EVERY_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

interface Process {
  pid: number;
  parentPid: number;
  sessionId: number;
}

/** All of this machine that can be seen from here; see proc(5). */
function readProcesses(): Process[] {
  return readProc().flatMap((name) => {
    // The program's name comes second, in brackets, and may hold anything.
    const [, parentPid, sessionId] =
      /^.*\) \S (\d+) \d+ (\d+)/s.exec(readText(`/proc/${name}/stat`) ?? "") ?? [];
    return parentPid
      ? [{ pid: Number(name), parentPid: Number(parentPid), sessionId: Number(sessionId) }]
      : [];
  });
}

/** It, what it started, and what those started; also what they left behind in its session. */
function processesOf(pid: number, processes: readonly Process[]): number[] {
  const found = new Set([pid]);
  for (const parent of found)
    for (const each of processes)
      if (each.parentPid === parent || each.sessionId === pid) found.add(each.pid);
  return [...found];
}

// Without files, which the kernel takes back when memory is short.
function residentKib(pid: number): number {
  const status = readText(`/proc/${pid}/status`) ?? "";
  return [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].reduce(
    (sum, [, kib]) => sum + Number(kib),
    0,
  );
}
