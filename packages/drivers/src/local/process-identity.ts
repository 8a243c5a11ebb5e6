import { readdirSync, readFileSync } from "node:fs";
import { instanceVariables } from "@vocalhost/protocol";

/** Tells a process from a later one with the same id. */
export interface ProcessIdentity {
  pid: number;
  /** Start time in the kernel's ticks; undefined where there is no /proc. */
  startedTicks?: string | undefined;
  bootId?: string | undefined;
}

export function identityOf(pid: number): ProcessIdentity {
  return { pid, startedTicks: statOf(pid)?.startedTicks, bootId: bootId() };
}

/** Tells whether it still runs; a zombie does not. */
export function isRunning(process: ProcessIdentity): boolean {
  if (process.startedTicks === undefined) return isThere(process.pid);
  if (process.bootId !== bootId()) return false;
  const stat = statOf(process.pid);
  return stat?.startedTicks === process.startedTicks && stat.state !== "Z" && stat.state !== "X";
}

/** Tells whether any process has this id. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Finds the process of an instance by its folder, for one whose id was not written down in time. */
export function findByFolder(folder: string): ProcessIdentity | undefined {
  const wanted = `${instanceVariables.folder}=${folder}`;
  for (const name of readProc()) {
    const environment = readText(`/proc/${name}/environ`) ?? "";
    if (environment.includes(wanted) && environment.split("\0").includes(wanted)) {
      const found = identityOf(Number(name));
      if (isRunning(found)) return found;
    }
  }
  return undefined;
}

function statOf(pid: number): { state: string; startedTicks: string } | undefined {
  // The program's name comes second, in brackets, and may hold anything.
  const fields = readText(`/proc/${pid}/stat`)
    ?.replace(/^.*\)\s/s, "")
    .split(" ");
  const [state, startedTicks] = [fields?.[0], fields?.[19]];
  return state && startedTicks ? { state, startedTicks } : undefined;
}

/** Returns how long its main thread waited for the processor; undefined where the kernel does not count. */
export function starvedMsOf({ pid }: ProcessIdentity): number | undefined {
  const [, waitedNs] = readText(`/proc/${pid}/schedstat`)?.split(" ") ?? [];
  return waitedNs === undefined ? undefined : Math.round(Number(waitedNs) / 1e6);
}

let knownBootId: string | undefined;

function bootId(): string | undefined {
  return (knownBootId ??= readText("/proc/sys/kernel/random/boot_id")?.trim());
}

export function readProc(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
