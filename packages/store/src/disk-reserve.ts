import { closeSync, fsyncSync, openSync, rmSync, statSync, statfsSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const ROOM_FACTOR = 2; // taking the last free byte would fill the disk again
const LOW_BYTES = 1024 * 1024; // more than one of our transactions writes
const SHARE_MAX = 0.25; // of a small disk

/** A file that holds disk space back: on a full disk even a DELETE needs some, and gets it when the file is removed. */
export class DiskReserve {
  readonly #file: string;
  readonly #sizeBytes: number;
  #isHeld: boolean;

  constructor(file: string, wantedBytes: number) {
    this.#file = file;
    this.#sizeBytes = Math.min(wantedBytes, Math.floor(spaceAround(file).totalBytes * SHARE_MAX));
    this.#isHeld = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) >= this.#sizeBytes;
    this.restore();
  }

  get isReleased(): boolean {
    return !this.#isHeld;
  }

  release(): void {
    this.#isHeld = false;
    rmSync(this.#file, { force: true });
  }

  /** Releases the reserve if the disk is nearly full, before SQLite has to roll back a transaction for want of a page. */
  check(): void {
    const lowBytes = Math.min(LOW_BYTES, this.#sizeBytes / 2);
    if (this.#isHeld && spaceAround(this.#file).freeBytes < lowBytes) this.release();
  }

  /** Takes the space again if there is plenty of it. */
  restore(): void {
    if (this.#isHeld || spaceAround(this.#file).freeBytes < ROOM_FACTOR * this.#sizeBytes) return;
    this.#isHeld = fill(this.#file, this.#sizeBytes);
  }
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
