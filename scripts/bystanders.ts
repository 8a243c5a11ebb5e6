import { readdirSync, readFileSync } from "node:fs";

/** The programs that ran before the tests did. */
export interface Bystanders {
  /** Their processor time since the last time this was asked. */
  takenMs(): number;
}

const TICK_MS = 10; // of /proc; the kernel's own is another matter

/** None where there is no /proc. */
export function createBystanders(): Bystanders {
  const taken = new Map<string, number>();
  for (const pid of processes()) taken.set(pid, ticksOf(pid) ?? 0);
  return {
    takenMs() {
      let ticks = 0;
      for (const [pid, before] of taken) {
        const now = ticksOf(pid);
        if (now === undefined) taken.delete(pid);
        else {
          ticks += Math.max(0, now - before);
          taken.set(pid, now);
        }
      }
      return ticks * TICK_MS;
    },
  };
}

/** Not the kernel's threads, which work for whoever asks. */
function processes(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isProgram(name));
  } catch {
    return [];
  }
}

function isProgram(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`).length > 0 && Number(pid) !== process.pid;
  } catch {
    return false;
  }
}

function ticksOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13);
    return Number(user) + Number(system);
  } catch {
    return undefined;
  }
}
