import type { Clock } from "@vocalhost/base/clock";
import type { Failpoint } from "@vocalhost/base/failpoints";
import type { QuotasOf } from "../identity/quotas/quotas.ts";
import type { Store } from "@vocalhost/store/store";

/** The dependencies for creating and changing agents. */
export interface DeployContext {
  store: Store;
  clock: Pick<Clock, "nowMs">;
  newId(): string;
  failpoint: Failpoint;
  /** Codes; the first is the default. */
  regions: readonly string[];
  /** Internal registries that are allowed as sources of images: `host` or `host:port`. */
  registries: readonly string[];
  quotasOf: QuotasOf;
}
