import type { Clock } from "./clock.ts";
import type { Driver } from "./drivers/driver.ts";
import type { Failpoint } from "./failpoints.ts";
import type { InstanceNetwork } from "./instances/instance-network.ts";
import type { Log } from "./log.ts";
import type { Store } from "./store/store.ts";
import type { Timing } from "./timing.ts";

/**
 * Everything the deciding code touches. It runs unchanged against real processes and under virtual time, so nothing
 * in it may reach for a clock, a timer or a random number of its own.
 */
export interface World {
  store: Store;
  driver: Driver;
  network: InstanceNetwork;
  clock: Clock;
  newId(): string;
  timing: Timing;
  failpoint: Failpoint;
  log: Log;
  /** Of our leadership; checked in every write and carried by every command. */
  epoch: number;
}
