/** Enough of a key to tell it from others; a table would cut a whole one in the middle. */
export function maskedKey(key: string): string {
  return key.includes("…") ? key : `${key.slice(0, 3)}…${key.slice(-4)}`;
}
