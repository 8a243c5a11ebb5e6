/** How hard Opus works: as it was told to, or as little as it can while the media thread has too much to do. */
export interface OpusEffort {
  readonly complexity: number;
  /** Takes how busy the media thread was, from 0 to 1, twice a second. Says whether the complexity changed. */
  observe(utilization: number): boolean;
}

export const OBSERVE_EVERY_MS = 500;

const LEAST_COMPLEXITY = 1; // less than half the work of 5; what lies between saves little
const BUSY = 0.8; // packets begin to leave late
const BUSY_OBSERVATIONS = 2; // a second: connecting or collecting garbage takes less
const CALM = 0.4; // the full effort then stays well below BUSY
const CALM_OBSERVATIONS = 20;

export function createOpusEffort(configured: number): OpusEffort {
  let complexity = configured;
  let busy = 0;
  let calm = 0;

  function planned(): number {
    if (busy >= BUSY_OBSERVATIONS) return Math.min(configured, LEAST_COMPLEXITY);
    return calm >= CALM_OBSERVATIONS ? configured : complexity;
  }

  return {
    get complexity() {
      return complexity;
    },
    observe(utilization) {
      busy = utilization > BUSY ? busy + 1 : 0;
      calm = utilization < CALM ? calm + 1 : 0;
      const before = complexity;
      complexity = planned();
      return complexity !== before;
    },
  };
}
