import type { Clock } from "@vocalhost/base/clock";
import type { ImageBuilder } from "@vocalhost/drivers/image-builder";
import type { ObjectStore } from "./object-store/object-store.ts";
import type { Log } from "@vocalhost/base/log";
import type { BuildFolders } from "./build-folders.ts";
import type { UserRange } from "@vocalhost/drivers/process/own-users";
import type { QuotasOf } from "../identity/quotas/quotas.ts";
import type { Store } from "@vocalhost/store/store";

/** The dependencies of uploads and builds. */
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
  /** Where other controllers find uploads. @default none */
  objectStore?: ObjectStore | undefined;
  /** The service's own copy of the package `vocalhost`, for bots without one. */
  sdkFolder: string;
  /** Whether packages may come from Git or from any address. @default false */
  allowsForeignPackages?: boolean;
  quotasOf: QuotasOf;
  /** How many builds run at the same time. @default 1 */
  atOnce?: number;
  /** The first users of the range run builds. @default the service's user */
  users?: UserRange | undefined;
  /** Returns the builder of images for a region; without one, builds make folders. */
  imagesIn?(region: string): ImageBuilder | undefined;
  /** @default 600000 */
  buildTimeoutMs?: number;
}
