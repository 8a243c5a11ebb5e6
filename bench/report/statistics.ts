/** The value below which the given share of all values lies; 0 without values. */
export function percentile(values: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export function median(values: Iterable<number>): number {
  return percentile(values, 0.5);
}

export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** `1.2`, `12` or `123`: three figures say enough. */
export function figure(value: number): string {
  if (value !== 0 && Math.abs(value) < 1) return value.toFixed(2);
  return Math.abs(value) < 20 ? value.toFixed(1) : value.toFixed(0);
}

export function ratio(value: number, baseline: number): string {
  return `${figure(value / baseline)}×`;
}
