import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "./clock.ts";

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    await wait(ms, undefined, { signal }).catch(() => undefined); // only an abort rejects
  },
};
