import { identityOf, isRunning, isThere, type ProcessIdentity } from "../local/process-identity.ts";
import { holdsFolder } from "./holds-folder.ts";
import { isOfUser, readProcesses, readText, type Process } from "./read-processes.ts";

/** In the environment of an instance and, unlike what names its folder, of all it starts. */
export const ORIGIN_VARIABLE = "VOCALHOST_ORIGIN";

/** What is known of an instance whose processes are looked for. */
export interface Origin {
  id: string;
  /** As an absolute path. Left out where a control group knows all that was started: to look who holds it takes a while. */
  folder: string | undefined;
  /** Nobody else runs as this one. */
  uid: number | undefined;
  program: ProcessIdentity | undefined;
}

const NONE = "";

/**
 * What an instance has started, wherever that went, without the instance itself: children of children, and what carries a
 * mark of it though its parent is gone. Where there are no control groups nothing else knows.
 */
export function findDescendants(origin: Origin): ProcessIdentity[] {
  const processes = readProcesses();
  const { program } = origin;
  const mine = program && isRunning(program) ? childrenOf(program.pid, processes) : new Set<number>();
  const isMarked = marksOf(origin, processes);
  for (const each of processes) if (isMarked(each)) mine.add(each.pid);
  for (const pid of [program?.pid, process.pid]) if (pid !== undefined) mine.delete(pid);
  return [...mine].map(identityOf).filter(isRunning);
}

function childrenOf(pid: number, processes: readonly Process[]): Set<number> {
  const found = new Set<number>();
  const queue = [pid];
  for (let parent = queue.pop(); parent !== undefined; parent = queue.pop())
    for (const child of processes) {
      if (child.parentPid !== parent || found.has(child.pid)) continue;
      found.add(child.pid);
      queue.push(child.pid);
    }
  return found;
}

// An environment can be cleared and a session left; a user cannot be changed.
function marksOf(
  { id, folder, uid, program }: Origin,
  processes: readonly Process[],
): (each: Process) => boolean {
  const origins = readOrigins(processes);
  // The number of a session is nobody else's before the last process of it has ended.
  const session = program && (isRunning(program) || !isThere(program.pid)) ? program.pid : undefined;
  const since = BigInt(program?.startedTicks ?? 0);
  return (each) => {
    if (uid !== undefined && isOfUser(each.pid, uid)) return true;
    const from = origins.get(keyOf(each)) ?? NONE;
    if (from !== NONE) return from === id;
    if (each.sessionId === session || each.groupId === session) return true;
    if (folder === undefined) return false;
    // A person at a terminal may look around there.
    return !each.hasTerminal && BigInt(each.startedTicks) >= since && holdsFolder(each.pid, folder);
  };
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

function keyOf({ pid, startedTicks }: Process): string {
  return `${pid} ${startedTicks}`;
}
