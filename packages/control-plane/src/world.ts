import type { Clock } from "./clock.ts";
import type { Driver } from "./drivers/driver.ts";
import type { InstanceRecords } from "./drivers/instance-records.ts";
import type { Failpoint } from "./failpoints.ts";
import type { InstanceNetwork } from "./instances/instance-network.ts";
import type { Log } from "./log.ts";
import type { MediaPorts } from "./pools/media-ports.ts";
import type { QuotasOf } from "./quotas/quotas.ts";
import type { PendingLimits } from "./sessions/pending-sessions.ts";
import type { Sightings } from "./sessions/sightings.ts";
import type { Store } from "./store/store.ts";
import type { Timing } from "./timing.ts";

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
  sightings: Sightings;
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
