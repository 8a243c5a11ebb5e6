import type { ImageBuilder } from "./image-builder.ts";
import type { InstanceRecords } from "./instance-records.ts";
import type { HostPort } from "./network-policy/rules.ts";

/** How instances are made. Knows objects, not agents or sessions; every call may be repeated. */
export interface Driver {
  readonly capabilities: DriverCapabilities;
  /** Processors of the machine on which instances boot. Left out by drivers whose cluster chooses the machine. */
  readonly cores?: number;
  /** Left out by drivers whose instances are on this machine as we are. */
  readonly host?: HostSide;
  /** Of a driver that stands for one in each region. */
  readonly regional?: RegionalSide;
  /**
   * From now on `create` and `destroy` of every driver object with an older epoch, in whatever process it lingers, are
   * refused with `EPOCH_STALE`. Called by the controller that has become leader until it resolves; before that the driver's own
   * `create` and `destroy` are refused with `DriverUnavailableError`.
   */
  fence(epoch: number): Promise<void>;
  /** The newest epoch that was ever fenced here; a store restored from a backup may know only older ones. */
  newestEpoch(): Promise<number>;
  /**
   * Brings what instances will be made of to where they are made; may take minutes. Rejects with `SourceError` when that
   * cannot be, with `DriverUnavailableError` when it can be tried again. Left out by drivers that have nothing to bring.
   */
  prepare?(source: InstanceSource, options: PrepareOptions): Promise<PreparedSource>;
  /** Makes the object named `spec.id`, or does nothing if it is there (running or exited). */
  create(spec: InstanceSpec): Promise<void>;
  /** Every object of ours, including those no row refers to any more. */
  list(): Promise<SeenInstance[]>;
  /** Called whenever `list()` has probably changed (an address appeared, an object ended). Hastens; is never needed. */
  onChange(listener: () => void): void;
  /** Asks it to end, kills it after the grace, resolves when it no longer runs. Gone already is fine. */
  destroy(id: string, options: { graceMs: number }): Promise<void>;
  /**
   * Lets it have no processor time until it is woken; it keeps its memory, and answers nobody. Done already is fine.
   * Left out by drivers that cannot.
   */
  pause?(id: string): Promise<void>;
  /** Called before it gets a session: resolves when it goes on, within its limits. One that was not paused is fine. */
  wake?(id: string): Promise<void>;
  /**
   * Told with every look at the pools which instances have a session, so that whoever else can end them is kept from it, and
   * that they have their share of the processor. Left out by drivers that see to neither.
   */
  inUse?(ids: ReadonlySet<string>): void;
  /** Removes an object that has ended, with all that is left of it. */
  forget(id: string): Promise<void>;
  /** Removes what the instances of a deleted agent had in common. Left out by drivers that make nothing of the kind. */
  forgetAgent?(agentId: string): Promise<void>;
}

/** This machine, as instances see it that have a network of their own. */
export interface HostSide {
  address(): Promise<string>;
  /** Has them reach these ports, besides what they may anyhow. Those of the call before are closed. */
  open(ports: readonly HostPort[]): Promise<void>;
}

export interface RegionalSide {
  codes: readonly string[];
  in(code: string): Driver;
  /** Regions of which the last list says what was there before they were gone. */
  away(): ReadonlySet<string>;
}

/** The driver of this region. */
export function driverIn(driver: Driver, region: string): Driver {
  return driver.regional?.in(region) ?? driver;
}

/** A driver and what its instances leave behind. Closing it leaves the instances alone. */
export interface OpenedDriver extends AsyncDisposable {
  driver: Driver;
  records: InstanceRecords;
  /** Where instances are made of images. */
  images?: ImageBuilder;
  /** Instead, of a driver that stands for one in each region. */
  imagesIn?(region: string): ImageBuilder | undefined;
}

/** What a driver can do on this machine. */
export interface DriverCapabilities {
  /** What it can make an instance of. */
  runs: readonly SourceKind[];
  cpuLimit: boolean;
  memoryLimit: boolean;
  isolation: "none" | "container";
}

/** Where a bot's program is. */
export type InstanceSource =
  /** The folder of a build. Without `botFile` the bot is found by its name. */
  | { kind: "build"; folder: string; botFile?: string }
  | { kind: "image"; reference: string; pullSecret: PullSecret | undefined };
export type SourceKind = InstanceSource["kind"];

export interface PrepareOptions {
  /** Called with a sentence of what is being done. */
  progressed(text: string): void;
  signal: AbortSignal;
  /** Where it is to be brought, of several. */
  region?: string;
}

export interface PreparedSource {
  /** Means the same for ever, whatever becomes of the name it was found by. */
  reference: string;
  /** What the image says about itself. */
  labels: Record<string, string>;
}

/** What a deployment names cannot be run. Its message is one sentence for the agent's record, without secrets. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly code: SourceErrorCode;

  constructor(code: SourceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What instances are made of was there and is not any more. */
export class SourceGoneError extends SourceError {
  constructor(message: string) {
    super("IMAGE_NOT_FOUND", message);
  }
}

/** As they are published. */
export type SourceErrorCode =
  | "IMAGE_NOT_FOUND"
  | "IMAGE_PULL_UNAUTHORIZED"
  | "IMAGE_TOO_LARGE"
  | "IMAGE_PULL_RATE_LIMIT"
  | "INVALID_IMAGE_PLATFORM"
  | "IMAGE_PULL_UNKNOWN_ERROR"
  /** It is there, and cannot be run as it is asked for. */
  | "UNKNOWN_ERROR";

/** Opens a registry. */
export interface PullSecret {
  host: string;
  username: string;
  token: string;
}

export interface InstanceSpec {
  id: string;
  /** Where it is made, of several. */
  region?: string;
  source: InstanceSource;
  /** The bot's secret set. Never put it into arguments, labels or logs. */
  environment: Record<string, string>;
  token: string;
  cpuMillicores: number;
  memoryMib: number;
  heartbeatMs: number;
  aloneMs: number;
  /** A session waits for it. @default false */
  isAwaited?: boolean;
  /** How calls reach it, where that was configured. */
  media?: InstanceMedia;
  /** Whose it is, for people who look at the objects, and so that they go with the agent. */
  owner?: InstanceOwner;
}

export interface InstanceOwner {
  agentId: string;
  agentName: string;
  deploymentId: string;
}

export interface InstanceMedia {
  /** UDP, and its alone while it lives. It listens there on every address it has; publish it under the same number. */
  port: number | undefined;
  /** What clients are told instead of its own addresses; empty: its own. */
  addresses: string[];
}

export interface SeenInstance {
  id: string;
  /** Of several. */
  region?: string;
  state: "running" | "exited";
  /** `host:port`, once it takes requests. */
  address: string | undefined;
  exit: InstanceExit | undefined;
  /** It runs, but has no processor time. */
  isPaused?: boolean;
  /** How long its boot waited for its machine: for the processor, or for a node to start it. Undefined where unknown. */
  starvedMs?: number | undefined;
  /** A sentence on what keeps it from starting, where that is not the bot. */
  waitsFor?: string | undefined;
}

export interface InstanceExit {
  code: number | null;
  signal: string | null;
  outOfMemory: boolean;
  /** Last lines it printed. */
  lastOutput: string;
  /** A sentence on how it ended, where code and signal do not tell. */
  how?: string | undefined;
  /** It was ended by what instances are made with, and would have gone on. */
  isForeign?: boolean | undefined;
}

/** Nothing is wrong with what was asked, but with what instances are made with. Asking again later may help. */
export class DriverUnavailableError extends Error {
  override readonly name = "DriverUnavailableError";
}
