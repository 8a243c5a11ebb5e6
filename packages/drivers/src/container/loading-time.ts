import type { Log } from "@vocalhost/base/log";
import { LOADING_MILLICORES } from "../loading.ts";
import { asDriverError } from "./engine-error.ts";
import type { Engine } from "./engine.ts";

/** Instances load with more processor time than is theirs, and have what is theirs before they get a session. */
export interface LoadingTime {
  /** Returns the CPU limit that an instance with this profile starts with. */
  millicores(ofProfile: number): number;
  /** Gives the instance the limit of its profile. Called each time the driver sees it; has an effect once. */
  end(id: string, ofProfile: number): void;
  /** Resolves once it has that limit. Rejects if it cannot be set: such an instance must get no session. */
  ended(id: string): Promise<void>;
  forget(id: string): void;
}

interface Ending {
  ofProfile: number;
  done: Promise<void>;
  /** On the monotonic clock. */
  failedMs: number | undefined;
}

const AGAIN_MS = 1_000;

export function createLoadingTime(options: {
  engine: Engine;
  nameOf(id: string): string;
  log: Log;
}): LoadingTime {
  const { engine, nameOf, log } = options;
  const endings = new Map<string, Ending>();

  function start(id: string, ofProfile: number): Ending {
    const done = engine.limitCpu(nameOf(id), ofProfile);
    const ending: Ending = { ofProfile, done, failedMs: undefined };
    endings.set(id, ending);
    done.catch((error: unknown) => {
      ending.failedMs = performance.now();
      log.warn({ err: error, instanceId: id }, "an instance keeps the processor time it had for loading");
    });
    return ending;
  }

  return {
    millicores: (ofProfile) => (engine.limitsCpuLater ? Math.max(LOADING_MILLICORES, ofProfile) : ofProfile),
    end(id, ofProfile) {
      if (!engine.limitsCpuLater || !(ofProfile > 0)) return;
      const { failedMs } = endings.get(id) ?? { failedMs: -Infinity };
      if (failedMs !== undefined && performance.now() - failedMs > AGAIN_MS) start(id, ofProfile);
    },
    async ended(id) {
      let ending = endings.get(id);
      if (ending?.failedMs !== undefined) ending = start(id, ending.ofProfile);
      await ending?.done.catch((error: unknown) => {
        throw asDriverError(error);
      });
    },
    forget: (id) => void endings.delete(id),
  };
}
