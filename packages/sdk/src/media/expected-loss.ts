/** Estimates packet loss for the encoder, which spends more bits on redundancy when loss is higher. */
export interface ExpectedLoss {
  readonly percent: number;
  /** Takes a report of the other side, in 1/256. Returns whether the estimate changed. */
  observe(fractionLost: number): boolean;
}

const LEAST_PERCENT = 10; // below this libopus adds redundancy too late, and the first loss is audible
const MOST_PERCENT = 40; // above this the redundancy would itself be lost
const KEPT = 0.75; // share kept after a better report: losses come in bursts

export function createExpectedLoss(): ExpectedLoss {
  let expected = LEAST_PERCENT;
  let percent = LEAST_PERCENT;
  return {
    get percent() {
      return percent;
    },
    observe(fractionLost) {
      const reported = (fractionLost / 256) * 100;
      expected = Math.max(reported, expected * KEPT, LEAST_PERCENT);
      const before = percent;
      percent = Math.round(Math.min(expected, MOST_PERCENT));
      return percent !== before;
    },
  };
}
