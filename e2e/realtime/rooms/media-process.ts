import { execFileSync } from "node:child_process";

/** Process id of a room server's media; it descends from the process that started the server. */
export function findMediaProcess(ancestor: number = process.pid): number {
  const listed = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" });
  const processes = listed.split("\n").map((line) => line.trim().split(/\s+/, 3).concat(line));
  const parents = new Map(processes.map(([pid, parent]) => [Number(pid), Number(parent)]));
  const descends = (pid: number): boolean => pid === ancestor || (pid > 1 && descends(parents.get(pid) ?? 0));
  const found = processes.find(([pid, , , line]) => line?.includes("media-main") && descends(Number(pid)));
  if (!found) throw new Error(`No media process among:\n${listed}`);
  return Number(found[0]);
}
