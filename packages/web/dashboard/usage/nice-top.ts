const SMALL = [2, 4, 6, 8, 10];
const STEPS = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

/** The end of an axis: a round number not below the largest value, and even, so that its half is whole. */
export function niceTop(largest: number): number {
  const small = SMALL.find((top) => !(largest > top)); // of nothing at all as well
  if (small !== undefined) return small;
  const magnitude = 10 ** Math.floor(Math.log10(largest));
  const step = STEPS.find((each) => each * magnitude >= largest) ?? 10;
  return Math.round(step * magnitude);
}
