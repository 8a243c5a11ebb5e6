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
