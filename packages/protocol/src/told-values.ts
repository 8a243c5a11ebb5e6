// What an instance tells of itself and its session. It shares a process with the bot, which can set every clock and
// counter there: a value that makes no sense must cost neither the record it stands in nor whoever stores it.
import { z } from "zod";

/** Fits every integer column and every date; thousands of them still add up exactly. */
export const TOLD_MAX = 2 ** 50;

/** Lengths of time, bytes: finite and not negative. What is no number counts as nothing. */
export const ToldAmount = z
  .number()
  .catch(0)
  .transform((amount) => Math.min(Math.max(amount, 0), TOLD_MAX));

/** The same, whole. */
export const ToldCount = ToldAmount.transform(Math.round);

/** Left out when it makes no sense. */
export const ToldMark = z.number().nonnegative().max(TOLD_MAX).optional().catch(undefined);

/** Whole milliseconds since 1970 by the instance's wall clock, however that is set; null when it makes no sense. */
export const ToldTime = z.number().nonnegative().max(TOLD_MAX).transform(Math.round).nullable().catch(null);

const REASON_MAX_CHARACTERS = 100; // ours have 15
const UNREADABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** A word or two; without line breaks, nor anything else that is not seen. */
export const ToldReason = z
  .string()
  .catch("")
  .transform((text) => {
    const readable = text.replace(UNREADABLE, " ").trim().slice(0, REASON_MAX_CHARACTERS);
    return readable.toWellFormed() || "unknown";
  });

export function isBounded(figures: object): boolean {
  return Object.values(figures).every((each) => typeof each !== "number" || Math.abs(each) <= TOLD_MAX);
}
