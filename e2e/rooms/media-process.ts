import { execFileSync } from "node:child_process";

/** Process id of the room server's media; it is a child of the process that started the server. */
export function findMediaProcess(): number {
  const children = execFileSync("ps", ["-o", "pid=,args=", "--ppid", String(process.pid)], {
    encoding: "utf8",
  });
  const line = children.split("\n").find((child) => child.includes("media-main"));
  if (!line) throw new Error(`No media process among:\n${children}`);
  return Number.parseInt(line, 10);
}
