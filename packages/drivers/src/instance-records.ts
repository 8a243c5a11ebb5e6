import type { AliveRecord, ExitRecord } from "@vocalhost/protocol";

/**
 * What an instance leaves behind: how its session ended, its last sign of life, what it printed. Apart from the driver,
 * because an instance need not share a folder with us. All of it outlives the instance, until `remove`.
 */
export interface InstanceRecords {
  exitRecord(id: string, sessionId: string): Promise<ExitRecord | undefined>;
  aliveRecord(id: string): Promise<AliveRecord | undefined>;
  /** Whole lines of its output from a position on; fewer than asked when there are not more yet. */
  output(id: string, position: number): Promise<OutputChunk>;
  /** The disk is full: gives up output that can be spared, read or not. Gives the bytes that are free now. */
  makeSpace(): Promise<number>;
  /** Called when they are no longer needed. What is kept inside the object itself may stay until the driver forgets that. */
  remove(id: string): Promise<void>;
  /**
   * Called by the leader on each reconcile with the ids that have a row or an object: removes the records of all others.
   * Left out where records lie in the object itself.
   */
  keepOnly?(ids: ReadonlySet<string>): Promise<void>;
}

export interface OutputChunk {
  lines: OutputLine[];
  /** The position to go on from. */
  nextPosition: number;
}

export interface OutputLine {
  position: number;
  text: string;
}
