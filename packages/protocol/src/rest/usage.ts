import { z } from "zod";
import { Month, Time } from "./values.ts";

/** @default the current month */
export const UsageQuery = z.object({ month: Month.optional() });
export type UsageQuery = z.infer<typeof UsageQuery>;

/** Of the voice filter, in one UTC month. */
export const Usage = z.object({
  month: z.string(),
  /** Frozen: what is found later is a correction. */
  closed: z.boolean(),
  seconds: z.number().int(),
  minutes: z.number().int(),
  freeMinutes: z.number().int(),
  billableMinutes: z.number().int(),
  /** Millionths of a US dollar. */
  amountMicroDollars: z.number().int(),
  /** Exact. */
  amountUsd: z.string(),
  /** In whole cents. */
  invoiceUsd: z.string(),
  sessions: z.number().int(),
  agents: z.array(z.object({ agent: z.string(), seconds: z.number().int(), sessions: z.number().int() })),
  corrections: z.array(z.object({ sessionId: z.string(), seconds: z.number().int(), foundAt: Time })),
});
export type Usage = z.infer<typeof Usage>;
