import { Usage, UsageDays, UsageQuery } from "@vocalhost/protocol";
import { Readable } from "node:stream";
import { z } from "zod";
import { toTime } from "@vocalhost/base/to-time";
import type { Clock } from "@vocalhost/base/clock";
import { readUsageDays } from "../usage/ledger/read-usage-days.ts";
import { readUsage } from "../usage/ledger/read-usage.ts";
import { usageCsv } from "../usage/ledger/usage-csv.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { Log } from "@vocalhost/base/log";
import type { ApiPorts } from "./ports.ts";
import { createPlaces } from "./stream-places.ts";
import { whileTaken } from "./while-taken.ts";

const tag = "Usage";
const TABLES_MAX = 16; // each reads page after page for as long as its client takes them

export function usageOperations({ store, clock, log }: ApiPorts): Operation[] {
  const tables = createPlaces({ max: TABLES_MAX, refusal: "Too many tables of usage are being read" });
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
        tables.takeFor(organizationId, reply.raw);
        const pages = toldWhenBroken(usageCsv(store, organizationId, month), log);
        reply.header("content-type", "text/csv; charset=utf-8");
        reply.header("content-disposition", `attachment; filename="usage-${month}.csv"`);
        const taken = whileTaken(pages, { clock, answer: reply.raw });
        return Readable.from(taken, { highWaterMark: 1 });
      },
    }),
  ];
}

/** It cannot be answered any more; the connection is cut, so that nobody takes it for the whole. */
async function* toldWhenBroken(pages: AsyncIterable<string>, log: Log): AsyncGenerator<string, void> {
  try {
    yield* pages;
  } catch (error) {
    log.warn({ err: error }, "table of usage broke off");
    throw error;
  }
}

function monthOf({ month }: UsageQuery, clock: Clock): string {
  return month ?? toTime(clock.nowMs()).slice(0, 7);
}
