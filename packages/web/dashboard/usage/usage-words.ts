/** `2026-11`, in UTC as everything that is billed. */
export function monthOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

/** The newest first. */
export function lastMonths(nowMs: number, count: number): string[] {
  const now = new Date(nowMs);
  return Array.from({ length: count }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7),
  );
}

const title = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

export function monthTitle(month: string): string {
  return title.format(new Date(`${month}-01T00:00:00Z`));
}

const whole = new Intl.NumberFormat("en");
const tenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Begun minutes, as a month's total is billed. */
export function toMinutes(seconds: number): string {
  return whole.format(Math.ceil(seconds / 60));
}

/** "12.3": parts of a total are not rounded up each. */
export function toPart(seconds: number): string {
  return seconds > 0 && seconds < 3 ? "< 0.1" : tenths.format(seconds / 60);
}

export function toCount(count: number): string {
  return whole.format(count);
}

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
