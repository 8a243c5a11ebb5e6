import type { OperateOptions } from "../operate/operate-options.ts";
import { askProgram } from "../operate/run-operation.ts";
import { failed, ok, reasonOf, skipped, warning, type Hop } from "./hop.ts";

/** What the service's own program says of its data folder; `space` is null where there is none. */
export interface DiskFigures {
  dataFolder: string;
  space: { freeBytes: number; totalBytes: number } | null;
  areas?: Record<string, number>;
}

const LOW_SHARE = 0.1;
const LOW_BYTES = 5 * 1024 ** 3; // a large disk is not low at 10 % of it
const FULL_BYTES = 256 * 1024 ** 2; // less than one build may take

/** The disk of the service on this machine: what is left of it, and what the data folder takes. */
export async function checkDisk(options: OperateOptions, signal: AbortSignal): Promise<Hop> {
  try {
    return describeDisk(await askProgram<DiskFigures>({ words: ["disk"], options }, { signal }));
  } catch (error) {
    signal.throwIfAborted();
    return skipped("disk", `the data folder could not be measured: ${reasonOf(error)}`);
  }
}

export function describeDisk({ dataFolder, space, areas = {} }: DiskFigures): Hop {
  if (!space) return skipped("disk", `no service keeps its data in ${dataFolder}`);
  const { freeBytes, totalBytes } = space;
  const taken = Object.entries(areas)
    .filter(([, bytes]) => bytes > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([area, bytes]) => `${area} ${shown(bytes)}`);
  const says = `${shown(freeBytes)} of ${shown(totalBytes)} free; ${dataFolder}: ${taken.join(", ") || "empty"}`;
  const fixes = [
    "Free space or enlarge the disk. On a full disk the service refuses starts and deployments.",
    "Keep less: VOCALHOST_DEBRIS_RETENTION_DAYS, VOCALHOST_LOG_RETENTION_DAYS.",
  ];
  if (freeBytes < FULL_BYTES) return failed("disk", says, ...fixes);
  if (freeBytes < Math.min(totalBytes * LOW_SHARE, LOW_BYTES)) return warning("disk", says, ...fixes);
  return ok("disk", says);
}

function shown(bytes: number): string {
  if (bytes >= 1024 ** 3) return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
