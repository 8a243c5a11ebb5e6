import { setTimeout as pause } from "node:timers/promises";
import { isRunning, isThere, type ProcessIdentity } from "../local/process-identity.ts";

const LOOK_AGAIN_MS = 25;
const KILLED_MS = 5_000; // only a process stuck in the kernel takes longer

/** Asks, waits, kills with everything it started. Resolves when it no longer runs. */
export async function endProcess(target: ProcessIdentity, graceMs: number): Promise<void> {
  if (graceMs > 0 && signal(target, "SIGTERM") && (await isOver(target, graceMs))) return;
  if (!isRunning(target)) return;
  killGroup(target.pid);
  signal(target, "SIGKILL"); // it may be in a group whose leader is long gone
  if (!(await isOver(target, KILLED_MS))) throw new Error(`Process ${target.pid} does not end`);
}

/** What the process had started and left behind; the group outlives its leader. */
export function killLeftovers(pid: number): void {
  if (!isThere(pid)) killGroup(pid); // a number in use again would be a stranger's
}

function signal(target: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isRunning(target)) return false;
  try {
    return process.kill(target.pid, name);
  } catch {
    return false;
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // nobody is left
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
