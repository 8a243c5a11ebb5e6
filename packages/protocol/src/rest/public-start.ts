import { z } from "zod";

/** How a caller repeats a start without starting twice. */
export const IdempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/);
