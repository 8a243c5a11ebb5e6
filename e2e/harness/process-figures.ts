import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Resources a process holds, as the kernel counts them. */
export interface ProcessFigures {
  openFiles: number;
  udpSockets: number;
  threads: number;
  rssMib: number;
}

export function processFigures(pid: number): ProcessFigures {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
  const sockets = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]).filter(Boolean));
  const udp = ["udp", "udp6"].flatMap((table) => inodes(`/proc/${pid}/net/${table}`));
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    openFiles: links.length,
    udpSockets: udp.filter((inode) => sockets.has(inode)).length,
    threads: Number(/^Threads:\s+(\d+)/m.exec(status)?.[1]),
    rssMib: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024,
  };
}

export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function inodes(table: string): string[] {
  const rows = readFileSync(table, "utf8").trim().split("\n").slice(1);
  return rows.map((row) => row.trim().split(/\s+/)[9] ?? "");
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // closed since the folder was read
  }
}
