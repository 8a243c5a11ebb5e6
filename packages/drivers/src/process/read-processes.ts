import { readdirSync, readFileSync } from "node:fs";

/** As the kernel has it; the names of its fields are in proc(5). */
export interface Process {
  pid: number;
  parentPid: number;
  groupId: number;
  sessionId: number;
  hasTerminal: boolean;
  startedTicks: string;
}

/** All of this machine that can be seen from here. */
export function readProcesses(): Process[] {
  const names = readFolder("/proc").filter((name) => /^\d+$/.test(name));
  return names.flatMap((name) => {
    // The program's name comes second, in brackets, and may hold anything.
    const fields = readText(`/proc/${name}/stat`)
      ?.replace(/^.*\)\s/s, "")
      .split(" ");
    const startedTicks = fields?.[19];
    if (!fields || !startedTicks) return [];
    const [parentPid = 0, groupId = 0, sessionId = 0, terminal = 0] = fields.slice(1, 5).map(Number);
    return [{ pid: Number(name), parentPid, groupId, sessionId, hasTerminal: terminal !== 0, startedTicks }];
  });
}

/** Whether it runs as this user, or did before it started a program that is somebody else's. */
export function isOfUser(pid: number, uid: number): boolean {
  const [, users = ""] = /^Uid:\s+(.*)$/m.exec(readText(`/proc/${pid}/status`) ?? "") ?? [];
  return users.split(/\s+/).includes(String(uid));
}

export function readFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // ended meanwhile, or somebody else's
  }
}
