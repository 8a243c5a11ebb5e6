import type { Clock } from "../clock.ts";
import type { ImageBuilder } from "../drivers/image-builder.ts";
import type { Depot } from "../depot/depot.ts";
import type { Log } from "../log.ts";
import type { BuildFolders } from "./build-folders.ts";
import type { UserRange } from "../own-users.ts";
import type { QuotasOf } from "../quotas/quotas.ts";
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
  folders: BuildFolders;
  /** Where other controllers find uploads. @default nowhere */
  depot?: Depot | undefined;
  /** The service's own copy of the package `vocalhost`, for bots that bring none. */
  sdkFolder: string;
  /** Whether packages may come from Git or from any address. @default false */
  allowsForeignPackages?: boolean;
  quotasOf: QuotasOf;
  /** How many builds run at the same time. @default 1 */
  atOnce?: number;
  /** The first of them run builds. @default as who we are */
  users?: UserRange | undefined;
  /** Makes images of what was uploaded for this region; where there is none, folders are made. */
  imagesIn?(region: string): ImageBuilder | undefined;
  /** @default 600000 */
  buildTimeoutMs?: number;
}
