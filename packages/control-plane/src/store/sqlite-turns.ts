import type { Lock } from "./lock.ts";
import type { Statement } from "./sqlite-engine.ts";

/** What all connections to one writer have in common. Only who has the lock may look. */
export class SqliteTurns {
  readonly lock: Lock;
  /** Transactions that are over and wait for the commit of one behind them. */
  shared: SharedCommit | undefined;
  /** Whether the transaction that is open waits for the disk. */
  isDurable = true;
  #waitsForDisk: boolean | undefined = true; // undefined: nobody knows

  constructor(lock: Lock) {
    this.lock = lock;
  }

  /** What has to be sent first so that the next commit waits for the disk, or does not. */
  set(waitsForDisk: boolean): Statement[] {
    this.isDurable = waitsForDisk;
    if (this.#waitsForDisk === waitsForDisk) return [];
    this.#waitsForDisk = undefined;
    return [waitsForDisk ? WAIT_FOR_DISK : TRUST_MEMORY];
  }

  /** The statements behind that have been run, so it is set. */
  isSet(): void {
    this.#waitsForDisk = this.isDurable;
  }
}

interface SharedCommit {
  members: number;
  written: PromiseWithResolvers<void>;
}

const WAIT_FOR_DISK: Statement = { sql: "pragma synchronous = full", parameters: [], where: "setting" };
// The write-ahead log is written, but not flushed: that is what a process leaves behind, whatever becomes of it.
const TRUST_MEMORY: Statement = { sql: "pragma synchronous = normal", parameters: [], where: "setting" };
