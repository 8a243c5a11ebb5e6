import type { ImageBuilder } from "./image-builder.ts";
import type { InstanceRecords } from "./instance-records.ts";
import type { HostPort } from "./network-policy/rules.ts";

/** Makes and ends instances. A driver knows objects, not agents or sessions; every call may be repeated. */
export interface Driver {
  readonly capabilities: DriverCapabilities;
  /** Processors of the machine on which instances boot. Undefined where a cluster chooses the machine. */
  readonly cores?: number;
  /** Undefined where instances share the network of this machine. */
  readonly host?: HostSide;
  /** Defined by a driver that stands for one in each region. */
  readonly regional?: RegionalSide;
  /**
   * Refuses `create` and `destroy` of every driver object with an older epoch, in whatever process, with `EPOCH_STALE`. Called by the controller that has become leader until it resolves; before that the driver's own
   * `create` and `destroy` are refused with `DriverUnavailableError`.
   */
  fence(epoch: number): Promise<void>;
  /** Returns the newest epoch that was ever fenced here. A store restored from a backup may know only older ones. */
  newestEpoch(): Promise<number>;
  /**
   * Brings the source to the place where instances are made; may take minutes. Rejects with `SourceError` when that is
   * impossible, with `DriverUnavailableError` when the caller may try again. Undefined in drivers that have nothing to bring.
   */
  prepare?(source: InstanceSource, options: PrepareOptions): Promise<PreparedSource>;
  /** Makes the object named `spec.id`, or does nothing if it is there (running or exited). */
  create(spec: InstanceSpec): Promise<void>;
  /** Returns every object of the service, including those that no row refers to any more. */
  list(): Promise<SeenInstance[]>;
  /** The listener is called whenever `list()` has probably changed (an address appeared, an object ended). No caller depends on it. */
  onChange(listener: () => void): void;
  /** Asks the instance to end, kills it after the grace, and resolves when it no longer runs. Does nothing if it is gone. */
  destroy(id: string, options: { graceMs: number }): Promise<void>;
  /**
   * Gives the instance no processor time until it is woken; it keeps its memory. Does nothing if it is paused.
   * Undefined in drivers that cannot.
   */
  pause?(id: string): Promise<void>;
  /** Called before the instance gets a session. Resolves when it runs within its limits. Does nothing if it is not paused. */
  wake?(id: string): Promise<void>;
  /**
   * Called on each reconcile with the ids of busy instances, which must not be evicted and get a larger CPU weight.
   * Undefined in drivers that can do neither.
   */
  inUse?(ids: ReadonlySet<string>): void;
  /** Removes an object that has ended, and everything that belongs to it. */
  forget(id: string): Promise<void>;
  /** Removes the objects that the instances of a deleted agent shared. Undefined in drivers that make none. */
  forgetAgent?(agentId: string): Promise<void>;
}

/** This machine, as instances with a network of their own see it. */
export interface HostSide {
  address(): Promise<string>;
  /** Lets instances reach these ports as well, and closes those of the call before. */
  open(ports: readonly HostPort[]): Promise<void>;
}

export interface RegionalSide {
  codes: readonly string[];
  in(code: string): Driver;
  /** Regions that cannot be reached; the last list holds what was seen of them before. */
  away(): ReadonlySet<string>;
}

/** Returns the driver of this region. */
export function driverIn(driver: Driver, region: string): Driver {
  return driver.regional?.in(region) ?? driver;
}

/** A driver and the records of its instances. Closing it does not end the instances. */
export interface OpenedDriver extends AsyncDisposable {
  driver: Driver;
  records: InstanceRecords;
  /** Defined where instances are made of images. */
  images?: ImageBuilder;
  /** Defined instead of `images` by a driver that stands for one in each region. */
  imagesIn?(region: string): ImageBuilder | undefined;
}

/** The capabilities of a driver on this machine. */
export interface DriverCapabilities {
  /** The sources that it can make instances of. */
  runs: readonly SourceKind[];
  cpuLimit: boolean;
  memoryLimit: boolean;
  isolation: "none" | "container";
}

/** The place of a bot's program. */
export type InstanceSource =
  /** The folder of a build. Without `botFile` the bot is searched by its usual names. */
  | { kind: "build"; folder: string; botFile?: string }
  | { kind: "image"; reference: string; pullSecret: PullSecret | undefined };
export type SourceKind = InstanceSource["kind"];

export interface PrepareOptions {
  /** Called with a sentence about the step that begins. */
  progressed(text: string): void;
  signal: AbortSignal;
  /** The region to bring it to, if there are several. */
  region?: string;
}

export interface PreparedSource {
  /** Never changes its meaning, as a tag can. */
  reference: string;
  /** The labels of the image. */
  labels: Record<string, string>;
}

/** The source of a deployment cannot be run. The message is one sentence for the agent's record, without secrets. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly code: SourceErrorCode;

  constructor(code: SourceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The source was there and is gone. */
export class SourceGoneError extends SourceError {
  constructor(message: string) {
    super("IMAGE_NOT_FOUND", message);
  }
}

/** The codes of the public API. */
export type SourceErrorCode =
  | "IMAGE_NOT_FOUND"
  | "IMAGE_PULL_UNAUTHORIZED"
  | "IMAGE_TOO_LARGE"
  | "IMAGE_PULL_RATE_LIMIT"
  | "INVALID_IMAGE_PLATFORM"
  | "IMAGE_PULL_UNKNOWN_ERROR"
  /** The source is there, and cannot be run with these settings. */
  | "UNKNOWN_ERROR";

/** Credentials of a registry. */
export interface PullSecret {
  host: string;
  username: string;
  token: string;
}

export interface InstanceSpec {
  id: string;
  /** The region, if there are several. */
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
  /** Undefined where the service configures no media ports or addresses. */
  media?: InstanceMedia;
  /** Written on the objects for operators, and so that they are deleted with the agent. */
  owner?: InstanceOwner;
}

export interface InstanceOwner {
  agentId: string;
  agentName: string;
  deploymentId: string;
}

export interface InstanceMedia {
  /** A UDP port that no other instance has. The instance listens on it at every address; publish it under the same number. */
  port: number | undefined;
  /** Addresses that clients are told. Empty: those of the instance. */
  addresses: string[];
}

export interface SeenInstance {
  id: string;
  /** The region, if there are several. */
  region?: string;
  state: "running" | "exited";
  /** `host:port`; undefined until the instance takes requests. */
  address: string | undefined;
  exit: InstanceExit | undefined;
  /** True: it runs, but has no processor time. */
  isPaused?: boolean;
  /** How long its boot waited for its machine: for the processor, or for a node to start it. Undefined where unknown. */
  starvedMs?: number | undefined;
  /** A sentence that says why it does not start, if the bot is not to blame. */
  waitsFor?: string | undefined;
}

export interface InstanceExit {
  code: number | null;
  signal: string | null;
  outOfMemory: boolean;
  /** The last lines that it printed. */
  lastOutput: string;
  /** A sentence on how it ended, where code and signal do not tell. */
  how?: string | undefined;
  /** True: the engine or the cluster ended it, and the bot would have gone on. */
  isForeign?: boolean | undefined;
}

/** The engine or the cluster cannot serve a valid call. The caller may try again later. */
export class DriverUnavailableError extends Error {
  override readonly name = "DriverUnavailableError";
}
