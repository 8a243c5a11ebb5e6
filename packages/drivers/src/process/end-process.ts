import { setTimeout as pause } from "node:timers/promises";
import { isRunning, isThere, type ProcessIdentity, readProc, readText } from "../local/process-identity.ts";

const LOOK_AGAIN_MS = 25;
const KILLED_MS = 5_000; // only a process stuck in the kernel takes longer

/** Asks, waits, kills with everything it started. Resolves when it no longer runs. */
export async function endProcess(target: ProcessIdentity, graceMs: number): Promise<void> {
  if (graceMs > 0 && signal(target, "SIGTERM") && (await isOver(target, graceMs))) return;
  if (!isRunning(target)) return;
  kill(-target.pid);
  signal(target, "SIGKILL"); // it may be in a group whose leader is long gone
  if (!(await isOver(target, KILLED_MS))) throw new Error(`Process ${target.pid} does not end`);
}

/** Kills what the process had started. The process group outlives its leader. */
export function killLeftovers(pid: number): void {
  if (!isThere(pid)) kill(-pid); // the pid may belong to another process by now
}

/** Ends all processes of this user, and repeats that until none is left, because each may have started others. */
export async function endUser(uid: number): Promise<void> {
  const deadlineMs = performance.now() + KILLED_MS;
  for (;;) {
    const statuses = readProc().map((pid) => ({ pid, text: readText(`/proc/${pid}/status`) ?? "" }));
    const left = statuses.filter(({ text }) => isOfUser(text, uid));
    for (const { pid } of left) kill(Number(pid));
    if (left.every(({ text }) => /^State:\s+[ZX]/m.test(text))) return; // but its other threads may have run until now
    if (performance.now() >= deadlineMs)
      throw new Error(`Processes of user ${uid} start others faster than they are ended`);
    await pause(LOOK_AGAIN_MS);
  }
}

/** Reads the real user as well, because a setuid program runs as another one. */
function isOfUser(status: string, uid: number): boolean {
  const [, users = ""] = /^Uid:\s+(.*)$/m.exec(status) ?? [];
  return users.split(/\s+/).includes(String(uid));
}

function signal(target: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isRunning(target)) return false;
  try {
    return process.kill(target.pid, name);
  } catch {
    return false;
  }
}

/** Takes a process group as a negative number. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // no process is left
  }
}

async function isOver(target: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (isRunning(target)) {
    if (performance.now() >= deadlineMs) return false;
    await pause(LOOK_AGAIN_MS);
  }
  return true;
}
