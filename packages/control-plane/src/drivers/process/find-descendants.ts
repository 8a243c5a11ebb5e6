import { readdirSync, readFileSync } from "node:fs";
import { identityOf, isRunning, type ProcessIdentity } from "../local/process-identity.ts";

/** In the environment of an instance and, unlike what names its folder, of all it starts. */
export const ORIGIN_VARIABLE = "VOCALHOST_ORIGIN";

const NONE = "";

/**
 * What an instance has started, wherever that went: children of children, and whatever carries its mark though its
 * parent is gone. Where there are no control groups nothing else knows.
 */
export function findDescendants(instanceId: string, pid?: number): ProcessIdentity[] {
  const processes = readProcesses();
  const found = new Set<number>();
  const queue = pid === undefined ? [] : [pid];
  for (let parent = queue.pop(); parent !== undefined; parent = queue.pop())
    for (const child of processes) {
      if (child.parentPid !== parent || found.has(child.pid)) continue;
      found.add(child.pid);
      queue.push(child.pid);
    }
  const origins = readOrigins(processes);
  for (const each of processes)
    if (each.pid !== pid && origins.get(keyOf(each)) === instanceId) found.add(each.pid);
  return [...found].map(identityOf).filter(isRunning);
}

// By process: what it was started with does not change, and there may be thousands of others.
let known = new Map<string, string | undefined>();

function readOrigins(processes: readonly Process[]): ReadonlyMap<string, string | undefined> {
  const now = new Map<string, string | undefined>();
  for (const each of processes) {
    const key = keyOf(each);
    // One that was only just made still shows what its parent was started with: without a mark it is looked at twice.
    now.set(key, known.get(key) ?? originOf(each.pid) ?? (known.has(key) ? NONE : undefined));
  }
  return (known = now);
}

function originOf(pid: number): string | undefined {
  const environment = readText(`/proc/${pid}/environ`) ?? "";
  const mark = `${ORIGIN_VARIABLE}=`;
  const entry = environment.includes(mark)
    ? environment.split("\0").find((each) => each.startsWith(mark))
    : undefined;
  return entry?.slice(mark.length);
}

interface Process {
  pid: number;
  parentPid: number;
  startedTicks: string;
}

function keyOf({ pid, startedTicks }: Process): string {
  return `${pid} ${startedTicks}`;
}

function readProcesses(): Process[] {
  const names = readFolder("/proc").filter((name) => /^\d+$/.test(name));
  return names.flatMap((name) => {
    // The program's name comes second, in brackets, and may hold anything.
    const fields = readText(`/proc/${name}/stat`)
      ?.replace(/^.*\)\s/s, "")
      .split(" ");
    const [parentPid, startedTicks] = [fields?.[1], fields?.[19]];
    return parentPid && startedTicks
      ? [{ pid: Number(name), parentPid: Number(parentPid), startedTicks }]
      : [];
  });
}

function readFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // ended meanwhile, or somebody else's
  }
}
