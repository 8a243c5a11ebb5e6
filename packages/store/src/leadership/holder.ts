import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** A name that others on this machine can judge: whether the process behind it still lives. */
export function holderName(): string {
  return [hostname(), process.pid, startOf(process.pid) ?? "?"].join("/");
}

/** Only processes of this machine can be known to be dead; for others the lease must run out. */
export function isHolderDead(holder: string): boolean {
  const [host, pid = "", start] = holder.split("/");
  if (host !== hostname()) return false;
  const found = startOf(Number(pid));
  if (found !== undefined) return found !== start;
  return !isAlive(Number(pid));
}

// Field 22: ticks since boot at which it started, so that a reused pid is not taken for it.
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
