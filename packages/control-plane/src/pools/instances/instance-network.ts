import type { InstanceStart, InstanceStatus, InstanceStop } from "@vocalhost/protocol";

/** How the controller speaks with instances. Instances report by themselves; requests are for commands only. */
export interface InstanceNetwork {
  /** Resolves when the instance has acknowledged the session; rejects with `InstanceCallError`. */
  start(target: InstanceTarget, command: InstanceStart, timeoutMs: number): Promise<void>;
  stop(target: InstanceTarget, command: InstanceStop): Promise<void>;
  /** Listens to exactly these instances. */
  watch(targets: InstanceTarget[]): void;
  /** The last report of an instance that is watched. */
  report(instanceId: string): InstanceReport | undefined;
  /** Heartbeats in a row that an instance which is watched has missed, whether or not it was ever heard. */
  missed(instanceId: string): number;
}

export interface InstanceTarget {
  id: string;
  /** `host:port` */
  address: string;
}

export interface InstanceReport {
  status: InstanceStatus;
  /** When it was heard, on our monotonic clock. */
  heardAtMs: number;
  /** The same by the wall clock, for the record. */
  heardAt: number;
}

export class InstanceCallError extends Error {
  override readonly name = "InstanceCallError";
  /** Whether the command may have reached the bot. */
  readonly delivered: "no" | "maybe" | "refused";

  constructor(message: string, delivered: InstanceCallError["delivered"], options?: ErrorOptions) {
    super(message, options);
    this.delivered = delivered;
  }
}
