import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store/store.ts";

/** What uploads and builds need. */
export interface BuildContext {
  store: Store;
  clock: Clock;
  newId(): string;
  log: Log;
  /** Codes; the first is the default. */
  regions: readonly string[];
  /** Holds `uploads/` and `builds/`. */
  dataFolder: string;
  /** The service's own copy of the package `vocalhost`, for bots that bring none. */
  sdkFolder: string;
  /** @default 600000 */
  buildTimeoutMs?: number;
}
