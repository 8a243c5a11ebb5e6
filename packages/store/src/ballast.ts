import { closeSync, fsyncSync, openSync, rmSync, statSync, statfsSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Space kept for bad times. On a full disk even a DELETE needs some, so a file of no use holds it until then.
 */
export interface Ballast {
  /** True from the moment the space was given up until it is held again. */
  readonly isReleased: boolean;
  /** Gives the space up. */
  release(): void;
  /** Gives it up if the disk is nearly full, before SQLite has to roll a transaction back for want of a page. */
  check(): void;
  /** Takes the space again if there is plenty of it. */
  restore(): void;
}

const ROOM_FACTOR = 2; // taking the last free byte would fill the disk again
const LOW_BYTES = 1024 * 1024; // more than a transaction of ours writes
const SHARE_MAX = 0.25; // of a small disk

export function openBallast(file: string, wantedBytes: number): Ballast {
  const sizeBytes = Math.min(wantedBytes, Math.floor(spaceAround(file).totalBytes * SHARE_MAX));
  let isHeld = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) >= sizeBytes;

  function take(): void {
    if (isHeld || spaceAround(file).freeBytes < ROOM_FACTOR * sizeBytes) return;
    isHeld = fill(file, sizeBytes);
  }

  function release(): void {
    isHeld = false;
    rmSync(file, { force: true });
  }

  take();
  return {
    get isReleased() {
      return !isHeld;
    },
    release,
    check() {
      if (isHeld && spaceAround(file).freeBytes < Math.min(LOW_BYTES, sizeBytes / 2)) release();
    },
    restore: take,
  };
}

/** Random, since some file systems store zeros in no space at all. */
function fill(file: string, sizeBytes: number): boolean {
  try {
    const descriptor = openSync(file, "w", 0o600);
    try {
      const chunk = Float64Array.from({ length: 8 * 1024 }, Math.random);
      for (let written = 0; written < sizeBytes; written += chunk.byteLength)
        writeSync(descriptor, chunk, 0, Math.min(chunk.byteLength, sizeBytes - written));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    return true;
  } catch {
    rmSync(file, { force: true });
    return false;
  }
}

function spaceAround(file: string): { totalBytes: number; freeBytes: number } {
  const { blocks, bavail, bsize } = statfsSync(dirname(file));
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}
