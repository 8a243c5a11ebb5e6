import { readlinkSync } from "node:fs";
import { sep } from "node:path";
import { readFolder, readText } from "./read-processes.ts";

const FILES_MAX = 256; // a gateway may have thousands; what a child inherits comes first
const MAY_WRITE = 0o3;

/** Whether it works in the folder, or has a file below it open for writing: who only reads may be anybody. */
export function holdsFolder(pid: number, folder: string): boolean {
  if (isBelow(linkOf(`/proc/${pid}/cwd`), folder)) return true;
  const files = readFolder(`/proc/${pid}/fd`).slice(0, FILES_MAX);
  return files.some((file) => isBelow(linkOf(`/proc/${pid}/fd/${file}`), folder) && mayWrite(pid, file));
}

function mayWrite(pid: number, file: string): boolean {
  const [, flags = "0"] = /^flags:\s+(\d+)$/m.exec(readText(`/proc/${pid}/fdinfo/${file}`) ?? "") ?? [];
  return (Number.parseInt(flags, 8) & MAY_WRITE) !== 0;
}

function isBelow(path: string | undefined, folder: string): boolean {
  return path === folder || (path?.startsWith(folder + sep) ?? false);
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
