/** Complexity of Opus: as configured, or the lowest while the media thread is overloaded. */
export interface OpusEffort {
  readonly complexity: number;
  /**
   * Takes the utilization of the media thread, from 0 to 1, twice a second. Returns whether the complexity
   * changed.
   */
  observe(utilization: number): boolean;
}

export const OBSERVE_EVERY_MS = 500;

const LEAST_COMPLEXITY = 1; // less than half the work of 5; values between save little
const BUSY = 0.8; // at this utilization packets begin to leave late
const BUSY_OBSERVATIONS = 2; // one second: connecting and garbage collection are shorter
const CALM = 0.4; // leaves room for the full complexity below BUSY
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
