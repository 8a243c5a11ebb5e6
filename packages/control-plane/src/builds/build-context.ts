import type { Clock } from "@vocalhost/base/clock";
import type { ImageBuilder } from "@vocalhost/drivers/image-builder";
import type { ObjectStore } from "./object-store/object-store.ts";
import type { Log } from "@vocalhost/base/log";
import type { BuildFolders } from "./build-folders.ts";
import type { UserRange } from "@vocalhost/drivers/process/own-users";
import type { QuotasOf } from "../identity/quotas/quotas.ts";
import type { Store } from "@vocalhost/store/store";

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
  objectStore?: ObjectStore | undefined;
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
