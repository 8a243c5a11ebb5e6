import type { AliveRecord, ExitRecord } from "@vocalhost/protocol";

/** How instances are made. Knows objects, not agents or sessions; every call may be repeated. */
export interface Driver {
  readonly name: "process" | "container" | "kubernetes";
  /** What this driver can do on this machine, in words for the operator. */
  readonly capabilities: DriverCapabilities;
  /**
   * From now on `create` and `destroy` of every driver object with an older epoch, in whatever process it lingers, are
   * refused with `EPOCH_STALE`. Called once, before anything else, by the controller that has become leader.
   */
  fence(epoch: number): Promise<void>;
  /** Makes the object named `spec.id`, or does nothing if it is there (running or exited). */
  create(spec: InstanceSpec): Promise<void>;
  /** Every object of ours, whether or not anybody remembers why. */
  list(): Promise<SeenInstance[]>;
  /** Called whenever `list()` has probably changed (an address appeared, an object ended). Hastens; is never needed. */
  onChange(listener: () => void): void;
  /** Asks it to end, kills it after the grace, resolves when it no longer runs. Gone already is fine. */
  destroy(id: string, options: { graceMs: number }): Promise<void>;
  /** Removes what a gone object left behind; its records and output are no longer needed. */
  forget(id: string): Promise<void>;
  exitRecord(id: string, sessionId: string): Promise<ExitRecord | undefined>;
  aliveRecord(id: string): Promise<AliveRecord | undefined>;
  /** Whole lines of its output from a position on; fewer than asked when there are not more yet. */
  output(id: string, position: number): Promise<OutputChunk>;
}

export interface DriverCapabilities {
  cpuLimit: boolean;
  memoryLimit: boolean;
  isolation: "none" | "container";
}

export interface InstanceSpec {
  id: string;
  /** Where the bot is: a folder for the process driver, an image reference for others. */
  source: string;
  /** The bot's file within the source. @default found by its name */
  botFile?: string;
  /** Of the bot's secret set. Never in arguments, labels or logs. */
  environment: Record<string, string>;
  token: string;
  cpuMillicores: number;
  memoryMib: number;
  heartbeatMs: number;
  aloneMs: number;
}

export interface SeenInstance {
  id: string;
  state: "running" | "exited";
  /** `host:port`, once it takes requests. */
  address: string | undefined;
  exit: InstanceExit | undefined;
}

export interface InstanceExit {
  code: number | null;
  signal: string | null;
  outOfMemory: boolean;
  /** Last lines it printed. */
  lastOutput: string;
}

export interface OutputChunk {
  lines: OutputLine[];
  /** Where to go on. */
  nextPosition: number;
}

export interface OutputLine {
  position: number;
  text: string;
}
