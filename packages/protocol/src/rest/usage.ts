import { z } from "zod";
import { operations } from "./operation.ts";
import { Month, Time } from "./values.ts";

/** @default the current month */
export const UsageQuery = z.object({ month: Month.optional() });
export type UsageQuery = z.infer<typeof UsageQuery>;

/** Use of the voice filter in one UTC month. */
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

const Used = {
  sessions: z.number().int(),
  /** From binding an instance to the bot's end. */
  activeSeconds: z.number().int(),
  /** Those of them with the voice filter on. */
  filterSeconds: z.number().int(),
};

/** Sessions that have ended, by UTC day and by agent. */
export const UsageDays = z.object({
  month: z.string(),
  ...Used,
  /** Every day of the month. A session counts where it began, its seconds where they were spent. */
  days: z.array(z.object({ day: z.string(), ...Used })),
  agents: z.array(z.object({ agent: z.string(), ...Used })),
  /** For the current month: the total to expect at this rate. */
  projection: z
    .object({
      filterMinutes: z.number().int(),
      billableMinutes: z.number().int(),
      amountUsd: z.string(),
      invoiceUsd: z.string(),
    })
    .nullable(),
});
export type UsageDays = z.infer<typeof UsageDays>;

export const usageOperations = operations("Usage", {
  usage: {
    id: "getUsage",
    summary: "Minutes of the voice filter in a month, and what they cost",
    method: "GET",
    path: "/usage",
    right: "view",
    query: UsageQuery,
    answer: Usage,
  },
  usageDays: {
    id: "getUsageDays",
    summary: "Active and filter time by day and by agent, and what the month will come to",
    method: "GET",
    path: "/usage/days",
    right: "view",
    query: UsageQuery,
    answer: UsageDays,
  },
  usageCsv: {
    id: "getUsageCsv",
    summary: "The same as a table, one line per session",
    method: "GET",
    path: "/usage.csv",
    right: "view",
    query: UsageQuery,
    answer: { type: "text/csv", description: "Comma-separated values" },
  },
});
