import type { AliveRecord, ExitRecord } from "@vocalhost/protocol";

/**
 * The records of an instance: how its session ended, its last sign of life, its output. They are separate from the
 * driver, because an instance need not share a folder with us. All of them outlive the instance, until `remove`.
 */
export interface InstanceRecords {
  exitRecord(id: string, sessionId: string): Promise<ExitRecord | undefined>;
  aliveRecord(id: string): Promise<AliveRecord | undefined>;
  /** Whole lines of its output from a position on; fewer than asked when there are not more yet. */
  output(id: string, position: number): Promise<OutputChunk>;
  /** The disk is full: gives up output that can be spared, read or not. Gives the bytes that are free now. */
  makeSpace(): Promise<number>;
  /**
   * Called when they are no longer needed. Records inside the object itself may stay until the driver removes the
   * object.
   */
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
