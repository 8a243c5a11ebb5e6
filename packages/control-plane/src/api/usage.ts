import { Usage, UsageDays, UsageQuery } from "@vocalhost/protocol";
import { z } from "zod";
import { toTime } from "../to-time.ts";
import type { Clock } from "../clock.ts";
import { readUsageDays } from "../ledger/read-usage-days.ts";
import { readUsage, usageCsv } from "../ledger/read-usage.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

const tag = "Usage";

export function usageOperations({ store, clock }: ApiPorts): Operation[] {
  return [
    defineOperation({
      id: "getUsage",
      tag,
      summary: "Minutes of the voice filter in a month, and what they cost",
      method: "GET",
      path: "/usage",
      right: "view",
      query: UsageQuery,
      answers: { 200: Usage },
      run: async ({ organizationId, query }) => {
        const { period, corrections, ...report } = await readUsage(
          store,
          organizationId,
          monthOf(query, clock),
        );
        return {
          ...report,
          month: period,
          corrections: corrections.map((row) => ({ ...row, foundAt: toTime(row.foundAt) })),
        };
      },
    }),
    defineOperation({
      id: "getUsageDays",
      tag,
      summary: "Active and filter time by day and by agent, and what the month will come to",
      method: "GET",
      path: "/usage/days",
      right: "view",
      query: UsageQuery,
      answers: { 200: UsageDays },
      run: async ({ organizationId, query }) => {
        const month = monthOf(query, clock);
        const report = await readUsageDays(store, organizationId, { period: month, nowMs: clock.nowMs() });
        return { month, ...report };
      },
    }),
    defineOperation({
      id: "getUsageCsv",
      tag,
      summary: "The same as a table, one line per session",
      method: "GET",
      path: "/usage.csv",
      right: "view",
      query: UsageQuery,
      answers: {
        200: { description: "Comma-separated values", content: { "text/csv": { schema: z.string() } } },
      },
      run: async ({ organizationId, query, reply }) => {
        const month = monthOf(query, clock);
        reply.header("content-type", "text/csv; charset=utf-8");
        reply.header("content-disposition", `attachment; filename="usage-${month}.csv"`);
        return usageCsv(store, organizationId, month);
      },
    }),
  ];
}

function monthOf({ month }: UsageQuery, clock: Clock): string {
  return month ?? toTime(clock.nowMs()).slice(0, 7);
}
