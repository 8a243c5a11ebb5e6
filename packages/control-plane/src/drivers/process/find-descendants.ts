import { readdirSync, readFileSync } from "node:fs";
import { identityOf, isRunning, type ProcessIdentity } from "../local/process-identity.ts";

/** In the environment of an instance and, unlike what names its folder, of all it starts. */
export const ORIGIN_VARIABLE = "VOCALHOST_ORIGIN";

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
  for (const each of processes) if (each.pid !== pid && isMarked(each.pid, instanceId)) found.add(each.pid);
  return [...found].map(identityOf).filter(isRunning);
}

function isMarked(pid: number, instanceId: string): boolean {
  const environment = readText(`/proc/${pid}/environ`) ?? "";
  return environment.split("\0").includes(`${ORIGIN_VARIABLE}=${instanceId}`);
}

function readProcesses(): { pid: number; parentPid: number }[] {
  const names = readFolder("/proc").filter((name) => /^\d+$/.test(name));
  return names.flatMap((name) => {
    // The program's name comes second, in brackets, and may hold anything.
    const fields = readText(`/proc/${name}/stat`)
      ?.replace(/^.*\)\s/s, "")
      .split(" ");
    return fields ? [{ pid: Number(name), parentPid: Number(fields[1]) }] : [];
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
