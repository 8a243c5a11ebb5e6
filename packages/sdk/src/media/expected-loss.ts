/** How much of what we send gets lost, for the encoder: the more, the more of its bits go into copies. */
export interface ExpectedLoss {
  readonly percent: number;
  /** Takes what the other side reports, 0 to 255 of 256. Says whether the expectation changed. */
  observe(fractionLost: number): boolean;
}

const LEAST_PERCENT = 10; // with less than this libopus is slow to write copies, and the first loss is heard
const MOST_PERCENT = 40; // beyond this copies of copies would be needed
const KEPT = 0.75; // of the expectation by a report that is better: losses come in bursts

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
