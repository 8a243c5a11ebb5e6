import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { UserRange } from "../own-users.ts";
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
  /** Whether packages may come from Git or from any address. @default false */
  allowsForeignPackages?: boolean;
  /** The first of them runs builds. @default as who we are */
  users?: UserRange | undefined;
  /** @default 600000 */
  buildTimeoutMs?: number;
}
