import { timingSafeEqual } from "node:crypto";

/** Compares without telling by its duration where the texts differ. */
export function equalTexts(given: string, expected: string): boolean {
  const left = Buffer.from(given);
  const right = Buffer.from(expected);
  return left.length === right.length && timingSafeEqual(left, right);
}
