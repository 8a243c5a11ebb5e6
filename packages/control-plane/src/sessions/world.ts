import type { Clock } from "@vocalhost/base/clock";
import type { Driver } from "@vocalhost/drivers/driver";
import type { InstanceRecords } from "@vocalhost/drivers/instance-records";
import type { Failpoint } from "@vocalhost/base/failpoints";
import type { InstanceNetwork } from "../pools/instances/instance-network.ts";
import type { Log } from "@vocalhost/base/log";
import type { MediaPorts } from "../pools/media-ports.ts";
import type { QuotasOf } from "../identity/quotas/quotas.ts";
import type { PendingLimits } from "./session-settings.ts";
import type { LastSeen } from "./last-seen.ts";
import type { Store } from "@vocalhost/store/store";
import type { Timing } from "@vocalhost/base/timing";

/**
 * Everything the deciding code touches. It runs unchanged against real processes and under virtual time, so nothing
 * in it may reach for a clock, a timer or a random number of its own.
 */
export interface World {
  store: Store;
  driver: Driver;
  records: InstanceRecords;
  network: InstanceNetwork;
  clock: Clock;
  newId(): string;
  timing: Timing;
  pendingLimits: PendingLimits;
  quotasOf: QuotasOf;
  mediaPorts: MediaPorts;
  lastSeen: LastSeen;
  failpoint: Failpoint;
  log: Log;
  /** Whether the service has the voice filter's engine. */
  hasVoiceEngine: boolean;
  /** So many waiting instances of an agent go on running, those beyond are paused. @default all go on */
  keptAwake?: number | undefined;
  /** Other regions, the nearest first. @default as they come */
  nearestTo?: ((region: string) => readonly string[]) | undefined;
  /** Our epoch as leader: checked in every write, sent with every command. */
  epoch: number;
}
