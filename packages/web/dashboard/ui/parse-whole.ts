/** A whole number within bounds, or why the text is none. */
export function parseWhole(
  text: string,
  { min, max }: { min: number; max: number },
): { value: number; problem?: undefined } | { value?: undefined; problem: string } {
  const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return { value };
  return { problem: `Must be a whole number from ${min} to ${max}` };
}
